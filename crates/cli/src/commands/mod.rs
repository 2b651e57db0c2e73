//! The commands.

mod card;
mod comm;
mod connect;
mod demo;
mod docs;
mod doctor;
mod image;
mod info;
mod key;
mod load;
mod ls;
mod manager;
mod map;
mod memory;
mod nic;
mod registry;
mod rma;
mod run;
mod schema;
mod stream;
mod study;
mod top;
mod up;

use crate::args::{CommAction, Command, MemAction, RmaAction, StreamAction};
use crate::bench;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;

pub(crate) fn run(cx: &Context, command: Command) -> Result<Exit> {
    match command {
        Command::Up(args) => up::run(cx, &args),
        Command::Card { action } => card::run(cx, &action),
        Command::Nic { action } => nic::run(cx, &action),
        Command::Ls(args) => ls::run(cx, &args),
        Command::Info { card } => info::run(cx, &card),
        Command::Key { action } => key::run(cx, &action),
        Command::Image { action } => image::run(cx, &action),
        Command::Load(args) => load::run(cx, &args),
        Command::Run(args) => run::run(cx, &args),
        Command::Mem { action: MemAction::Read(args) } => memory::read(cx, &args),
        Command::Mem { action: MemAction::Write(args) } => memory::write(cx, &args),
        Command::Rma { action } => match action {
            RmaAction::Open(args) => rma::open(cx, &args),
            RmaAction::Read(args) => rma::read(cx, &args),
            RmaAction::Write(args) => rma::write(cx, &args),
            RmaAction::Add(args) => rma::add(cx, &args),
            RmaAction::Map(args) => map::run(cx, &args),
        },
        Command::Stream { action: StreamAction::Send(args) } => stream::send(cx, &args),
        Command::Stream { action: StreamAction::Receive(args) } => stream::receive(cx, &args),
        Command::Stream { action: StreamAction::Connect(args) } => connect::run(cx, &args),
        Command::Comm { action: CommAction::Run(args) } => comm::run(cx, &args),
        Command::Comm { action: CommAction::Bench(args) } => comm::bench(cx, &args),
        Command::Comm { action: CommAction::Topology(args) } => comm::topology(cx, &args),
        Command::Manager(options) => manager::run(cx, &options),
        Command::Top(args) => top::run(cx, &args),
        Command::Registry { arguments } => registry::run(cx, &arguments),
        Command::Demo(args) => demo::run(cx, &args),
        Command::Bench { bench } => bench::run(cx, &bench),
        Command::Study(args) => study::run(cx, args.study.as_ref()),
        Command::Doctor => doctor::run(cx),
        Command::Completions { shell } => docs::completions(cx, shell),
        Command::Man { dir } => docs::man(cx, &dir),
        Command::Schema { name } => schema::show(cx, name.as_deref()),
        Command::Reference { page } => docs::reference(cx, &page),
        Command::ExitCodes => docs::topic(cx, crate::exit::TOPIC),
        Command::Environment => docs::topic(cx, crate::args::ENVIRONMENT),
    }
}
