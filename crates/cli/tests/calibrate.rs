//! What `equipoise calibrate` says of mechanisms that follow the data, and of parameters that cannot be.

use assert_cmd::Command;
use std::fmt::Write as _;

/// The words of a command line, and what it prints; the exit code where it is not zero.
fn told(line: &str) -> String {
    let arguments = line.split(' ');
    let output = Command::new(env!("CARGO_BIN_EXE_equipoise")).arg("calibrate").args(arguments).output();
    let output = output.expect("it runs");
    let (printed, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    match output.status.code() {
        Some(0) => printed.trim_end().to_string(),
        code => format!("exit {}: {}", code.expect("no signal"), error.trim_end()),
    }
}

fn all_told(lines: &[&str]) -> String {
    lines.iter().fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "{line}\n{}\n", told(line));
        text
    })
}

/// Derived numbers, without what they mean.
fn numbers_told(lines: &[&str]) -> String {
    lines.iter().fold(String::new(), |mut text, line| {
        let told = told(line);
        let numbers = told.lines().filter(|line| !line.starts_with("                ")).collect::<Vec<_>>();
        let _ = writeln!(text, "{line}\n{}\n", numbers.join("\n"));
        text
    })
}

#[test]
fn release_or_refuse() {
    insta::assert_snapshot!(numbers_told(&[
        "stable --epsilon 1 --delta 1e-6 --steps 20 --refusal 0.01",
        "histogram-keys --epsilon 1 --delta 1e-6 --count 20",
        "propose-test-release --epsilon 2 --delta 1e-6 --bound 10 --steps 20",
        "searched-bound --epsilon 2 --delta 1e-6 --range 0,10",
        "scale --epsilon 2 --delta 1e-6 --steps 20",
        "scale --epsilon 2 --delta 1e-6 --form two-tests",
        "noisy-distance --epsilon 1 --delta 1e-6 --steps 31",
        "threshold --epsilon 1 --delta 1e-6 --steps 31",
    ]), @r##"
    stable --epsilon 1 --delta 1e-6 --steps 20 --refusal 0.01
    cost                (1, 0.000001)-differential privacy
    epsilon             1
    delta               0.000001
    steps_for_half      14
    steps_for_99        18
    steps_for_certain   28
    probability         0.999256675027
    refusal             0.000743324972498
    epsilon_for_refusal 0.859472

    histogram-keys --epsilon 1 --delta 1e-6 --count 20
    cost               (1, 0.000001)-differential privacy
    epsilon            1
    delta              0.000001
    count_for_half     14
    count_for_99       18
    count_for_certain  28
    probability        0.999256675027
    refusal            0.000743324972498

    propose-test-release --epsilon 2 --delta 1e-6 --bound 10 --steps 20
    cost               (2, 0.000001)-differential privacy
    epsilon            2
    delta              0.000001
    error              30
    steps_for_half     14
    steps_for_99       18
    steps_for_certain  28
    probability        0.999256675027
    refusal            0.000743324972498

    searched-bound --epsilon 2 --delta 1e-6 --range 0,10
    cost               (2, 0.000001)-differential privacy
    epsilon            2
    delta              0.000001
    steps_for_answer   50
    error
             1  3
             2  6
             4  12
             8  24
            16  48

    scale --epsilon 2 --delta 1e-6 --steps 20
    cost               (2, 0.000001)-differential privacy
    epsilon            2
    delta              0.000001
    steps_for_half     14
    steps_for_99       18
    steps_for_certain  28
    probability        0.999256675027
    refusal            0.000743324972498
    power              1.75
    factor             3.36358566102

    scale --epsilon 2 --delta 1e-6 --form two-tests
    cost               (2, 0.000001)-differential privacy
    epsilon            2
    delta              0.00000099999975
    power              1.75
    factor             3.36358566102

    noisy-distance --epsilon 1 --delta 1e-6 --steps 31
    cost               (1, 6.07897e-7)-differential privacy
    epsilon            1
    delta              0.000000607896203478
    threshold          14
    probability        0.999999969734
    refusal            0.0000000302653698432

    threshold --epsilon 1 --delta 1e-6 --steps 31
    cost               (1, 0.000001)-differential privacy
    epsilon            1
    delta              0.000001
    steps_for_half     15
    steps_for_99       19
    probability        0.999999976605
    refusal            0.0000000233940574222
    "##);
}

#[test]
fn noise_that_follows_the_data() {
    insta::assert_snapshot!(numbers_told(&[
        "smooth --epsilon 1 --range 0,200000 --gap 20 --confidence 0.9 --error 50",
        "smooth --epsilon 1 --range 0,200000 --gap 20 --confidence 0.9 --noise cauchy --beta 0.5",
        "smooth --epsilon 1 --range 0,200000 --noise student --nu 5",
        "smooth --epsilon 1 --range 0,200000 --noise polyplace --beta 1/4",
        "smooth --epsilon 1 --delta 1e-6 --range 0,200000 --noise laplace",
        "released-scale --epsilon 1 --delta 1e-6 --range 0,200000 --gap 20",
        "bounded-local-sensitivity --epsilon 1.5 --delta 1e-6 --ceiling 28 --local 2",
    ]), @r##"
    smooth --epsilon 1 --range 0,200000 --gap 20 --confidence 0.9 --error 50
    cost               1-differential privacy
    epsilon            1
    delta              0
    noise              student with nu = 2
    beta               0.333333333334
    scale_per_bound    1.32353702247
    bound              30.805027142
    error              119.55484591
    error_at_worst     200001
    epsilon_for_error  1.81473

    smooth --epsilon 1 --range 0,200000 --gap 20 --confidence 0.9 --noise cauchy --beta 0.5
    cost               1-differential privacy
    epsilon            1
    delta              0
    noise              cauchy
    beta               0.5
    scale_per_bound    0.959517375668
    bound              24.2612263886
    error              147.483218683
    error_at_worst     200001

    smooth --epsilon 1 --range 0,200000 --noise student --nu 5
    cost               1-differential privacy
    epsilon            1
    delta              0
    noise              student with nu = 5
    beta               0.1
    scale_per_bound    1.71503839564
    bound              4.06569659741
    error              18.4248947609
    error_at_worst     200001

    smooth --epsilon 1 --range 0,200000 --noise polyplace --beta 1/4
    cost               1-differential privacy
    epsilon            1
    delta              0
    noise              polyplace with alpha = 5
    beta               0.25
    scale_per_bound    4.81233619006
    bound              1.88946621097
    error              10.6361037839
    error_at_worst     200001

    smooth --epsilon 1 --delta 1e-6 --range 0,200000 --noise laplace
    cost               (1, 0.000001)-differential privacy
    epsilon            1
    delta              0.000001
    noise              laplace
    beta               0.05
    scale_per_bound    1.87944150518
    bound              7.7348204691
    error              44.0510930538
    error_at_worst     200001

    released-scale --epsilon 1 --delta 1e-6 --range 0,200000 --gap 20
    cost               (1, 0.000001)-differential privacy
    epsilon            1
    delta              0.000001
    beta               0.02
    bound              375.311098852
    error              5297.40742294

    bounded-local-sensitivity --epsilon 1.5 --delta 1e-6 --ceiling 28 --local 2
    cost               (1.5, 0.000001)-differential privacy
    epsilon            1.5
    delta              0.000001
    offset             17
    error              113
    "##);
}

#[test]
fn ranks_and_removals() {
    insta::assert_snapshot!(numbers_told(&[
        "quantiles --epsilon 1 --ranks 300",
        "shifted-inverse --epsilon 1 --removals 30",
        "black-box --epsilon 5 --rows 20 --answers 21 --removals 4",
        "black-box --epsilon 5 --answers 21",
    ]), @r##"
    quantiles --epsilon 1 --ranks 300
    cost               1-differential privacy
    epsilon            1
    delta              0
    rank_error         292
    rank_errors        0.25: 292, 0.5: 170, 0.75: 292
    epsilon_for_ranks  0.972382

    shifted-inverse --epsilon 1 --removals 30
    cost                 1-differential privacy
    epsilon              1
    delta                0
    answers              4055
    removals             44
    epsilon_for_removals 1.40649

    black-box --epsilon 5 --rows 20 --answers 21 --removals 4
    cost                 5-differential privacy
    epsilon              5
    delta                0
    adjacency            replace, because the number of rows is public
    removals             4
    bounds               1
    epsilon_for_removals 3.96012

    black-box --epsilon 5 --answers 21
    cost               5-differential privacy
    epsilon            5
    delta              0
    adjacency          add-remove, because the number of rows is private
    removals           10
    bounds             3
    most_rows          13
    "##);
}

#[test]
fn what_a_number_means_is_said_below_it() {
    insta::assert_snapshot!(told("stable --epsilon 1 --delta 1e-6 --steps 20"), @r##"
    cost               (1, 0.000001)-differential privacy
                         what a run costs
    epsilon            1
                         epsilon of the cost
    delta              0.000001
                         delta of the cost
    steps_for_half     14
                         rows to change at which the chance of a release reaches one half
    steps_for_99       18
                         rows to change at which it reaches 99 percent
    steps_for_certain  28
                         rows to change from which on a release is certain
    probability        0.999256675027
                         chance of a release there, rounded down
    refusal            0.000743324972498
                         chance of a refusal there, rounded up
    "##);
}

#[test]
fn ranges_and_grids_and_quantiles_that_cannot_be() {
    insta::assert_snapshot!(all_told(&[
        "smooth --epsilon 1",
        "released-scale --epsilon 1 --delta 1e-6",
        "smooth --epsilon 1 --range 3,1",
        "smooth --epsilon 1 --range 0,inf",
        "searched-bound --epsilon 1 --delta 1e-6 --range 5,1",
        "inverse-sensitivity --epsilon 1 --range 2,1",
        "smooth --epsilon 1 --range 0,10 --grid 0",
        "released-scale --epsilon 1 --delta 1e-6 --range 0,10 --grid 0",
        "bounded-local-sensitivity --epsilon 1 --delta 1e-6 --grid 0 --ceiling 3",
        "black-box --epsilon 1 --answers 3 --step 0",
        "inverse-sensitivity --epsilon 1 --quantile 1",
        "quantile-interval --epsilon 1 --quantile -0.1",
        "quantiles --epsilon 1 --quantiles 0,0.5",
        "quantiles --epsilon 1 --quantiles 0.5,0.25",
    ]), @r##"
    smooth --epsilon 1
    exit 2: equipoise: range unbounded is not accepted: give LO,HI, without which a smooth bound is infinite; or use inverse-sensitivity, which needs none

    released-scale --epsilon 1 --delta 1e-6
    exit 2: equipoise: range unbounded is not accepted: give LO,HI, without which a smooth bound is infinite; or use inverse-sensitivity, which needs none

    smooth --epsilon 1 --range 3,1
    exit 2: equipoise: range 3,1 is not accepted: give LO,HI with LO at most HI

    smooth --epsilon 1 --range 0,inf
    exit 2: equipoise: range 0,inf is not accepted: give LO,HI as two whole numbers, counted in steps of the rows' own grid

    searched-bound --epsilon 1 --delta 1e-6 --range 5,1
    exit 2: equipoise: range 5,1 is not accepted: give LO,HI with LO at most HI

    inverse-sensitivity --epsilon 1 --range 2,1
    exit 2: equipoise: range 2,1 is not accepted: give LO,HI as finite numbers with LO at most HI

    smooth --epsilon 1 --range 0,10 --grid 0
    exit 2: equipoise: grid 0 is not accepted: give a positive step such as 1 or 0.01

    released-scale --epsilon 1 --delta 1e-6 --range 0,10 --grid 0
    exit 2: equipoise: grid 0 is not accepted: give a positive step such as 1 or 0.01

    bounded-local-sensitivity --epsilon 1 --delta 1e-6 --grid 0 --ceiling 3
    exit 2: equipoise: grid 0 is not accepted: give a positive number

    black-box --epsilon 1 --answers 3 --step 0
    exit 2: equipoise: step of the answers 0 is not accepted: give a number above 0, such as 1

    inverse-sensitivity --epsilon 1 --quantile 1
    exit 2: equipoise: quantile 1 is not accepted: give a fraction above 0 and below 1 of at most 19 digits, such as 0.9

    quantile-interval --epsilon 1 --quantile -0.1
    exit 2: equipoise: quantile -0.1 is not accepted: give a fraction above 0 and below 1 of at most 19 digits, such as 0.9

    quantiles --epsilon 1 --quantiles 0,0.5
    exit 2: equipoise: quantile 0 is not accepted: give a fraction above 0 and below 1 of at most 19 digits, such as 0.9

    quantiles --epsilon 1 --quantiles 0.5,0.25
    exit 2: equipoise: quantiles 0.5,0.25 is not accepted: give them in increasing order, each once
    "##);
}

#[test]
fn no_delta_where_one_is_needed() {
    insta::assert_snapshot!(all_told(&[
        "gate --epsilon 1 --delta 0",
        "threshold --epsilon 1 --delta 0",
        "noisy-distance --epsilon 1 --delta 0",
        "stable --epsilon 1 --delta 0",
        "histogram-keys --epsilon 1 --delta 0",
        "propose-test-release --epsilon 1 --delta 0",
        "searched-bound --epsilon 1 --delta 0 --range 0,10",
        "scale --epsilon 1 --delta 0",
        "smooth --epsilon 1 --range 0,10 --noise laplace",
        "released-scale --epsilon 1 --delta 0 --range 0,10",
        "bounded-local-sensitivity --epsilon 1 --delta 0 --ceiling 3",
        "gaussian --epsilon 1 --delta 0",
    ]), @r##"
    gate --epsilon 1 --delta 0
    exit 2: equipoise: delta 0 is not accepted: release-or-refuse needs a delta above 0 such as 1e-6; without one use a mechanism that always answers

    threshold --epsilon 1 --delta 0
    exit 2: equipoise: delta 0 is not accepted: give a number above 0 such as 1e-6

    noisy-distance --epsilon 1 --delta 0
    exit 2: equipoise: delta 0 is not accepted: release-or-refuse needs a delta above 0 such as 1e-6

    stable --epsilon 1 --delta 0
    exit 2: equipoise: delta 0 is not accepted: release-or-refuse needs a delta above 0 such as 1e-6; without one use a mechanism that always answers

    histogram-keys --epsilon 1 --delta 0
    exit 2: equipoise: delta 0 is not accepted: release-or-refuse needs a delta above 0 such as 1e-6; without one use a mechanism that always answers

    propose-test-release --epsilon 1 --delta 0
    exit 2: equipoise: delta 0 is not accepted: release-or-refuse needs a delta above 0 such as 1e-6; without one use a mechanism that always answers

    searched-bound --epsilon 1 --delta 0 --range 0,10
    exit 2: equipoise: delta 0 is not accepted: release-or-refuse needs a delta above 0 such as 1e-6; without one use a mechanism that always answers

    scale --epsilon 1 --delta 0
    exit 2: equipoise: delta 0 is not accepted: release-or-refuse needs a delta above 0 such as 1e-6; without one use a mechanism that always answers

    smooth --epsilon 1 --range 0,10 --noise laplace
    exit 2: equipoise: delta 0 is not accepted: Laplace noise needs a delta such as 1e-6; without one use Cauchy, Student or PolyPlace noise

    released-scale --epsilon 1 --delta 0 --range 0,10
    exit 2: equipoise: delta 0 is not accepted: a released bound is too small with some probability, so give a delta such as 1e-6; or use the smooth mechanism with Cauchy, Student or PolyPlace noise

    bounded-local-sensitivity --epsilon 1 --delta 0 --ceiling 3
    exit 2: equipoise: delta 0 is not accepted: a bound that always holds is the global sensitivity; give a number above 0 such as 1e-6

    gaussian --epsilon 1 --delta 0
    exit 2: equipoise: delta 0 is not accepted: Gaussian noise needs a delta above 0, such as 1e-6; for delta 0 use laplace
    "##);
}

#[test]
fn other_parameters_that_cannot_be() {
    insta::assert_snapshot!(all_told(&[
        "smooth --epsilon 1 --range 0,10 --beta 2",
        "smooth --epsilon 1 --range 0,10 --beta 0",
        "smooth --epsilon 1 --range 0,10 --noise student --beta 0.5",
        "smooth --epsilon 1 --range 0,10 --noise gauss",
        "smooth --epsilon 1 --range 0,10 --gap 0",
        "scale --epsilon 1 --delta 1e-6 --base 1",
        "scale --epsilon 1 --delta 1e-6 --shifts 3",
        "scale --epsilon 1 --delta 1e-6 --form two-tests --steps 3",
        "propose-test-release --epsilon 1 --delta 1e-6 --test-share 1",
        "propose-test-release --epsilon 1 --delta 1e-6 --bound 0",
        "searched-bound --epsilon 1 --delta 1e-6",
        "searched-bound --epsilon 1 --delta 1e-6 --bounds 2,1",
        "searched-bound --epsilon 1 --delta 1e-6 --bounds 1,2 --search-share 3/4",
        "bounded-local-sensitivity --epsilon 1 --delta 1e-6",
        "stable --epsilon 1 --delta 1e-6 --refusal 0.1",
        "histogram-keys --epsilon 1 --delta 1e-6 --keys-per-unit 0",
        "shifted-inverse --epsilon 1 --base 1",
        "black-box --epsilon 1 --answers 10",
        "smoth --epsilon 1",
        "ptr --epsilon 1",
    ]), @r##"
    smooth --epsilon 1 --range 0,10 --beta 2
    exit 2: equipoise: beta 2 is not accepted: Cauchy noise needs it below epsilon; give half of epsilon

    smooth --epsilon 1 --range 0,10 --beta 0
    exit 2: equipoise: beta 0 is not accepted: give a number above 0, such as a tenth of epsilon

    smooth --epsilon 1 --range 0,10 --noise student --beta 0.5
    exit 2: equipoise: beta 0.5 is not accepted: Student's noise needs it below epsilon/nu; give a smaller beta or nu

    smooth --epsilon 1 --range 0,10 --noise gauss
    exit 2: equipoise: noise gauss is not accepted: write auto, cauchy, student, polyplace or laplace

    smooth --epsilon 1 --range 0,10 --gap 0
    exit 2: equipoise: gap 0 is not accepted: give a number above 0 in the unit of the rows

    scale --epsilon 1 --delta 1e-6 --base 1
    exit 2: equipoise: base 1 is not accepted: give a number from 1.001 to 65536, such as 2 or 1.2

    scale --epsilon 1 --delta 1e-6 --shifts 3
    exit 2: equipoise: parts 2 is not accepted: give a multiple of the shifts, at least 2

    scale --epsilon 1 --delta 1e-6 --form two-tests --steps 3
    exit 2: equipoise: the two tests of the text take no steps; leave it out or use --form gate

    propose-test-release --epsilon 1 --delta 1e-6 --test-share 1
    exit 2: equipoise: test-share 1 is not accepted: give a number between 0 and 1, such as 1/2

    propose-test-release --epsilon 1 --delta 1e-6 --bound 0
    exit 2: equipoise: bound 0 is not accepted: give a whole number of at least 1

    searched-bound --epsilon 1 --delta 1e-6
    exit 2: equipoise: searched-bound needs bounds or range, one of them

    searched-bound --epsilon 1 --delta 1e-6 --bounds 2,1
    exit 2: equipoise: bounds 2,1 is not accepted: give growing numbers such as 1,2,4,8

    searched-bound --epsilon 1 --delta 1e-6 --bounds 1,2 --search-share 3/4
    exit 2: equipoise: test-share 0.25 is not accepted: leave a part to the noise: search and test must get less than all together

    bounded-local-sensitivity --epsilon 1 --delta 1e-6
    exit 2: equipoise: bounded-local-sensitivity needs ceiling or refuse-above, one of them

    stable --epsilon 1 --delta 1e-6 --refusal 0.1
    exit 2: equipoise: stable derives an epsilon for a chance of refusal only at some steps; give steps

    histogram-keys --epsilon 1 --delta 1e-6 --keys-per-unit 0
    exit 2: equipoise: keys-per-unit 0 is not accepted: give a whole number of at least 1

    shifted-inverse --epsilon 1 --base 1
    exit 2: equipoise: base 1 is not accepted: give a number from 1.0001 on, such as 1.01

    black-box --epsilon 1 --answers 10
    exit 2: equipoise: number of evaluations 1000000 is not accepted: subsets without a few rows outnumber it; allow more, or give a larger epsilon or fewer answers

    smoth --epsilon 1
    exit 2: equipoise: no mechanism is called 'smoth'; did you mean 'smooth'? `equipoise calibrate --list` shows all names

    ptr --epsilon 1
    exit 2: equipoise: the mechanism 'ptr' is called propose-test-release; `equipoise calibrate --list` shows all names
    "##);
}

#[test]
fn the_list_has_a_line_for_each_mechanism() {
    let list = told("--list");
    assert_eq!(list.lines().count(), equipoise_core::catalog::ALL.len());
    assert!(list.lines().any(|line| line.starts_with("smooth   ")), "{list}");
}
