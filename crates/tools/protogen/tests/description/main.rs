//! Descriptions of families and of registers: their rules, the forms made from them, and what a change of one does.

mod common;
mod families;
mod forms;
mod kinds;
mod register_rules;
mod rules;
