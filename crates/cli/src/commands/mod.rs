//! What each command does.

mod card;
mod demo;
mod docs;
mod doctor;
mod image;
mod info;
pub(crate) mod load;
mod ls;
mod manager;
mod memory;
mod registry;
mod run;
mod schema;
mod study;
mod top;
mod up;

use rackloom::{MacAddr, Rack, RackOptions};

use crate::args::{Command, Global};
use crate::bench;
use crate::exit::Exit;
use crate::failure::Result;
use crate::ui::Ui;

/// What all commands are given.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) ui: Ui,
    pub(crate) global: Global,
}

impl Context {
    /// Plugs into the segment that the user named.
    pub(crate) fn connect(&self) -> Result<Rack> {
        let options = RackOptions { deadline: self.global.timeout, jumbo: true, ..RackOptions::default() };
        Ok(Rack::connect(&self.global.net, options)?)
    }

    /// Claims cards; gives those that granted it, and tells of the others.
    pub(crate) fn claim(&self, rack: &Rack, cards: &[MacAddr]) -> (Vec<MacAddr>, Vec<(MacAddr, rackloom::Error)>) {
        let (mut granted, mut refused) = (Vec::new(), Vec::new());
        for (card, result) in rack.claim(cards, rackloom::ClaimOptions::default()).wait() {
            match result {
                Ok(_) => granted.push(card),
                Err(e) => refused.push((card, e)),
            }
        }
        (granted, refused)
    }
}

pub(crate) fn run(cx: &Context, command: Command) -> Result<Exit> {
    match command {
        Command::Up(args) => up::run(cx, &args),
        Command::Card { action } => card::run(cx, &action),
        Command::Ls(args) => ls::run(cx, &args),
        Command::Info { card } => info::run(cx, &card),
        Command::Image { action } => image::run(cx, &action),
        Command::Load(args) => load::run(cx, &args),
        Command::Run(args) => run::run(cx, &args),
        Command::Read(args) => memory::read(cx, &args),
        Command::Write(args) => memory::write(cx, &args),
        Command::Manager(options) => manager::run(cx, &options),
        Command::Top(args) => top::run(cx, &args),
        Command::Registry { arguments } => registry::run(cx, &arguments),
        Command::Demo(args) => demo::run(cx, &args),
        Command::Bench { bench } => bench::run(cx, &bench),
        Command::Study(args) => study::run(cx, &args),
        Command::Doctor => doctor::run(cx),
        Command::Completions { shell } => docs::completions(cx, shell),
        Command::Man { dir } => docs::man(cx, &dir),
        Command::Schema { name } => schema::show(cx, name.as_deref()),
        Command::Reference { page } => docs::reference(cx, &page),
        Command::ExitCodes => docs::topic(cx, crate::exit::TOPIC),
        Command::Environment => docs::topic(cx, crate::args::ENVIRONMENT),
    }
}
