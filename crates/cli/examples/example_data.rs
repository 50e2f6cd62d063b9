//! Write the example file anew: `cargo run --example example_data > examples/salaries.csv`.

#[path = "../tests/support/example_data.rs"]
mod example_data;

fn main() {
    print!("{}", example_data::salaries());
}
