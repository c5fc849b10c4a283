//! Tests of budgets.

use super::*;

const PRICE: Price = Price { input: 10.0, output: 20.0, cached: None, cache_write: None };

fn usage(input_tokens: u64, output_tokens: u64) -> Usage {
    Usage { input_tokens, output_tokens, ..Usage::default() }
}

fn tokens(tokens: u64) -> Budget {
    Budget { tokens: Some(tokens), cost: None }
}

fn cost(cost: f64) -> Budget {
    Budget { tokens: None, cost: Some(cost) }
}

fn spending(budgets: Budgets) -> Spending {
    Spending::new(budgets, Spent::default(), Day::default(), None)
}

#[test]
fn usage_and_cost_of_a_question_are_sums() {
    let spending = spending(Budgets::default());
    assert_eq!((spending.usage(), spending.cost()), (Usage::default(), None));
    assert_eq!(spending.add(&usage(100, 10), None), None);
    assert_eq!(spending.cost(), None);
    let answer = spending.clone().add(&usage(100_000, 50_000), Some(&PRICE)).unwrap();
    assert!((answer - 2.0).abs() < 1e-9, "{answer}");
    assert_eq!(spending.usage(), usage(100_100, 50_010));
    assert_eq!(spending.cost(), Some(answer));
    assert_eq!(spending.exhausted(), None);
}

#[test]
fn the_budget_of_a_question_ends_it() {
    let spending = spending(Budgets { run: tokens(150), ..Budgets::default() });
    spending.add(&usage(100, 49), None);
    assert_eq!(spending.exhausted(), None);
    spending.add(&usage(0, 1), None);
    assert_eq!(
        spending.exhausted().unwrap(),
        "The budget of this question is spent: 150 of 150 tokens. Raise `budgets.run.tokens` of the agent."
    );
}

#[test]
fn what_a_question_spent_before_it_was_interrupted_counts() {
    let spending = spending(Budgets { run: tokens(150), ..Budgets::default() });
    spending.go_on(Spent { tokens: 149, cost: 0.0 });
    assert_eq!(spending.exhausted(), None);
    spending.add(&usage(1, 0), None);
    assert!(spending.exhausted().is_some_and(|message| message.contains("150 of 150 tokens")));
    // Those are the tokens of this process alone.
    assert_eq!(spending.usage(), usage(1, 0));
}

#[test]
fn money_ends_a_question_too() {
    let spending = spending(Budgets { run: cost(0.5), ..Budgets::default() });
    // An answer without a price costs nothing.
    spending.add(&usage(10_000_000, 0), None);
    assert_eq!(spending.exhausted(), None);
    spending.add(&usage(50_000, 0), Some(&PRICE));
    let said = spending.exhausted().unwrap();
    assert!(said.contains("0.5000 of 0.5") && said.contains("`budgets.run.cost`"), "{said}");
}

#[test]
fn a_session_counts_what_it_spent_before() {
    let so_far = Spent { tokens: 90, cost: 0.0 };
    let budgets = Budgets { session: tokens(100), ..Budgets::default() };
    let spending = Spending::new(budgets, so_far, Day::default(), None);
    assert_eq!(spending.exhausted(), None);
    spending.add(&usage(10, 0), None);
    let said = spending.exhausted().unwrap();
    assert!(said.contains("this session is spent: 100 of 100 tokens") && said.contains("another session"), "{said}");
    assert_eq!(spending.usage(), usage(10, 0));
}

#[test]
fn sessions_share_the_day() {
    let (day, budgets) = (Day::default(), Budgets { day: cost(1.0), ..Budgets::default() });
    let [one, other] = [(); 2].map(|()| Spending::new(budgets, Spent::default(), day.clone(), None));
    one.add(&usage(100_000, 0), Some(&PRICE));
    let said = other.exhausted().unwrap();
    assert!(said.contains("00:00 UTC") && said.contains("`budgets.day.cost`"), "{said}");
    assert_eq!((other.usage(), other.cost()), (Usage::default(), None));
}

/// Spending of an agent that another one calls, each with a day of its own.
fn nested(parent: &Spending) -> Spending {
    Spending::new(Budgets::default(), Spent::default(), Day::default(), Some(parent.clone()))
}

#[test]
fn nested_agents_spend_the_budgets_of_all_agents_above_them() {
    let top = spending(Budgets { run: tokens(100), ..Budgets::default() });
    let middle = nested(&top);
    let bottom = nested(&middle);
    top.add(&usage(40, 0), None);
    middle.add(&usage(30, 0), None);
    bottom.add(&usage(29, 0), Some(&PRICE));
    assert_eq!(top.exhausted(), None);
    bottom.add(&usage(1, 0), None);
    let said = top.exhausted().unwrap();
    assert!(said.contains("100 of 100 tokens") && said.contains("`budgets.run.tokens`"), "{said}");
    // They stop, too, and usage and cost are each agent's own.
    assert!(bottom.exhausted().is_some_and(|message| message.contains("called this one") && message.contains(&said)));
    assert_eq!((top.usage(), top.cost()), (usage(40, 0), None));
    // The session's log gets every token once.
    assert_eq!(top.take_nested().map(|spent| spent.tokens), Some(60));
    assert_eq!(top.take_nested(), None);
    assert_eq!(middle.take_nested().map(|spent| spent.tokens), Some(30));
}

#[test]
fn nested_agents_spend_money_of_session_and_day_above_them() {
    for budgets in
        [Budgets { session: cost(1.0), ..Budgets::default() }, Budgets { day: cost(1.0), ..Budgets::default() }]
    {
        let top = spending(budgets);
        nested(&nested(&top)).add(&usage(100_000, 0), Some(&PRICE));
        assert!(top.exhausted().is_some_and(|message| message.contains("1.0000 of 1")), "{:?}", top.exhausted());
    }
}

#[test]
fn an_agent_that_calls_itself_spends_its_day_once() {
    let (day, budgets) = (Day::default(), Budgets { day: tokens(15), ..Budgets::default() });
    let outer = Spending::new(budgets, Spent::default(), day.clone(), None);
    let inner = Spending::new(budgets, Spent::default(), day, Some(nested(&outer)));
    inner.add(&usage(10, 0), None);
    assert_eq!(outer.exhausted(), None);
    inner.add(&usage(5, 0), None);
    assert!(outer.exhausted().is_some_and(|message| message.contains("15 of 15 tokens")));
}

#[test]
fn a_budget_of_nothing_allows_nothing() {
    assert!(spending(Budgets { run: tokens(0), ..Budgets::default() }).exhausted().is_some());
    assert!(spending(Budgets { session: cost(0.0), ..Budgets::default() }).exhausted().is_some());
}

#[test]
fn hostile_counts_saturate() {
    let spending = spending(Budgets::default());
    for _ in 0..3 {
        spending.add(&usage(u64::MAX, u64::MAX), Some(&PRICE));
    }
    assert_eq!(spending.usage().total(), u64::MAX);
    assert!(spending.cost().is_some_and(f64::is_finite));
}
