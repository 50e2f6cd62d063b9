//! What a user sees: exit code, standard output and standard error of whole commands.

use assert_cmd::Command;
use std::fmt::Write as _;

/// Exit code, standard output and standard error in one text.
fn run(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_equipoise")).args(arguments).output().expect("it runs");
    let mut text = format!("exit {}", output.status.code().expect("no signal"));
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        let shown = String::from_utf8_lossy(bytes);
        if !shown.is_empty() {
            let _ = write!(text, "\n--- {name}\n{}", shown.trim_end());
        }
    }
    text
}

#[test]
fn one_audit_as_a_table() {
    insta::assert_snapshot!(run(&["audit", "--only", "scale-threshold"]), @r##"
    exit 0
    --- stdout
             audit                            promise          adjacency  measured delta  mutant's delta  pairs
     caught  scale-threshold-without-epsilon  (0.4, 0.000001)  replace    2.3541e-1                       3
    0 claims with their mutants, 1 broken mechanisms; every claim holds, every zoo entry is caught. Deltas that differ by less than 0.000000001 are not told apart.
    "##);
}

#[test]
fn an_audit_that_does_not_exist() {
    insta::assert_snapshot!(run(&["audit", "--only", "nothing-like-it"]), @r##"
    exit 2
    --- stderr
    equipoise: no audit has a name with 'nothing-like-it' in it; `equipoise audit --list` shows all names
    "##);
}

#[test]
fn calibrate_prints_every_derived_number() {
    insta::assert_snapshot!(run(&["calibrate", "laplace", "--epsilon", "0.5", "--error", "3"]), @r##"
    exit 0
    --- stdout
    cost               0.5-differential privacy
                         what a run costs
    epsilon            0.5
                         epsilon of the cost
    delta              0
                         delta of the cost
    scale              2
                         scale of the noise: P(noise beyond t) falls by e for each
    error              6
                         no coordinate is off by more, at the confidence given
    epsilon_for_error  0.83189
                         the least epsilon with that error
    "##);
    insta::assert_snapshot!(run(&["calibrate", "--json", "sampled", "--epsilon", "1", "--rate", "0.5"]), @r##"
    exit 0
    --- stdout
    {"mechanism":"sampled","cost":"0.620115-differential privacy","epsilon":"0.620114506959","delta":"0","adjacency":"add-remove"}
    "##);
}

/// Command lines with something wrong in them.
const BAD: &[&[&str]] = &[
    &["calibrate", "laplace"],
    &["calibrate", "laplace", "--epsilon", "0"],
    &["calibrate", "laplace", "--epsilon", "-1"],
    &["calibrate", "laplace", "--epsilon", "NaN"],
    &["calibrate", "laplace", "--epsilon", "1e400"],
    &["calibrate", "laplace", "--epsilon", "1e4000"],
    &["calibrate", "laplace", "--epsilon", "1/0"],
    &["calibrate", "laplace", "--epsilon", "1", "--grid", "0"],
    &["calibrate", "laplace", "--epsilon", "1", "--sensitivity", "-3"],
    &["calibrate", "laplace", "--epsilon", "1", "--dimensions", "0"],
    &["calibrate", "laplace", "--epsilon", "1", "--confidence", "1"],
    &["calibrate", "laplace", "--epsilon", "1", "--error", "-1"],
    &["calibrate", "laplace", "--epsilon"],
    &["calibrate", "laplace", "epsilon"],
    &["calibrate", "laplace", "--epsilom", "1"],
    &["calibrate", "laplase", "--epsilon", "1"],
    &["calibrate", "sampled", "--epsilon", "1", "--rate", "0"],
    &["calibrate", "sampled", "--epsilon", "1", "--rate", "0.5", "--delta", "1"],
    &["calibrate", "sampled", "--epsilon", "1", "--rate", "0.5", "--adjacency", "swap"],
];

#[test]
fn bad_parameters_are_one_line_and_exit_2() {
    let mut text = String::new();
    for arguments in BAD {
        let _ = writeln!(text, "{}\n{}\n", arguments.join(" "), run(arguments));
    }
    insta::assert_snapshot!(text, @r##"
    calibrate laplace
    exit 2
    --- stderr
    equipoise: laplace needs epsilon (privacy parameter, above 0)

    calibrate laplace --epsilon 0
    exit 2
    --- stderr
    equipoise: epsilon 0 is not accepted: give a number above 0 and at most 1000, such as 1 or 0.5

    calibrate laplace --epsilon -1
    exit 2
    --- stderr
    equipoise: epsilon -1 is not accepted: give a number above 0 and at most 1000, such as 1 or 0.5

    calibrate laplace --epsilon NaN
    exit 2
    --- stderr
    equipoise: epsilon: 'NaN' is not a number; write a decimal like 0.5 or 1e-6, or a fraction like 1/3

    calibrate laplace --epsilon 1e400
    exit 2
    --- stderr
    equipoise: epsilon 1000000000000000000000000000000000000... is not accepted: give a number above 0 and at most 1000, such as 1 or 0.5

    calibrate laplace --epsilon 1e4000
    exit 2
    --- stderr
    equipoise: epsilon: '1e4000' has too many digits; use at most 400 digits and an exponent within ±400

    calibrate laplace --epsilon 1/0
    exit 2
    --- stderr
    equipoise: epsilon: '1/0' divides by zero; write a decimal like 0.5

    calibrate laplace --epsilon 1 --grid 0
    exit 2
    --- stderr
    equipoise: grid 0 is not accepted: give a positive step such as 1 or 0.01

    calibrate laplace --epsilon 1 --sensitivity -3
    exit 2
    --- stderr
    equipoise: sensitivity -3 is not accepted: give a positive number; a constant needs no noise

    calibrate laplace --epsilon 1 --dimensions 0
    exit 2
    --- stderr
    equipoise: dimensions 0 is not accepted: give a whole number of at least 1

    calibrate laplace --epsilon 1 --confidence 1
    exit 2
    --- stderr
    equipoise: confidence 1 is not accepted: give a number between 0 and 1, such as 0.95

    calibrate laplace --epsilon 1 --error -1
    exit 2
    --- stderr
    equipoise: error -1 is not accepted: no epsilon up to 1000 is that accurate; allow more or use a finer grid

    calibrate laplace --epsilon
    exit 2
    --- stderr
    equipoise: '--epsilon' has no value; write --epsilon and a value

    calibrate laplace epsilon
    exit 2
    --- stderr
    equipoise: 'epsilon' is not a parameter; write --name value, such as --epsilon 1

    calibrate laplace --epsilom 1
    exit 2
    --- stderr
    equipoise: laplace takes no parameter 'epsilom'; did you mean 'epsilon'? It takes epsilon, sensitivity, grid, dimensions, values, noise, confidence, error

    calibrate laplase --epsilon 1
    exit 2
    --- stderr
    equipoise: no mechanism is called 'laplase'; did you mean 'laplace'? `equipoise calibrate --list` shows all names

    calibrate sampled --epsilon 1 --rate 0
    exit 2
    --- stderr
    equipoise: rate 0 is not accepted: give a number above 0 and at most 1, such as 0.1

    calibrate sampled --epsilon 1 --rate 0.5 --delta 1
    exit 2
    --- stderr
    equipoise: delta 1 is not accepted: give 0, or a number below 1 such as 1e-6

    calibrate sampled --epsilon 1 --rate 0.5 --adjacency swap
    exit 2
    --- stderr
    equipoise: adjacency swap is not accepted: write add-remove or replace
    "##);
}
