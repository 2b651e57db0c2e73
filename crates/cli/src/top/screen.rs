//! The live view: it draws on the terminal until a key or a signal ends it, and then restores the terminal.

use std::io;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use ratatui::{DefaultTerminal, Frame};

use super::brief;
use super::report::{BoardRow, ManagerRow, TopReport};

/// The terminal, restored when this is dropped. A panic restores it as well, before its message.
#[derive(Debug)]
pub(crate) struct Screen {
    terminal: DefaultTerminal,
    scroll: u16,
}

/// How the view ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// By a key.
    Quit,
    /// By Ctrl-C, or a signal.
    Interrupted,
}

/// Longest time that a signal goes unnoticed.
const TICK: Duration = Duration::from_millis(50);
/// Columns of a bar where there is room for it.
const BAR: usize = 20;
/// Lines that a page key scrolls.
const PAGE: u16 = 10;

impl Screen {
    /// Takes over the terminal.
    ///
    /// # Errors
    /// There is no terminal, or it cannot be set up; it is restored then.
    pub(crate) fn open() -> io::Result<Self> {
        match ratatui::try_init() {
            Ok(terminal) => Ok(Self { terminal, scroll: 0 }),
            Err(why) => {
                Self::give_back();
                Err(why)
            }
        }
    }

    /// Restores the terminal, whoever took it over.
    pub(crate) fn give_back() {
        ratatui::restore();
    }

    /// Shows reports as they arrive, until a key or a signal ends it. The sender must outlive this call.
    ///
    /// # Errors
    /// The terminal cannot be drawn on or read.
    pub(crate) fn show(
        &mut self,
        reports: &Receiver<TopReport>,
        is_interrupted: impl Fn() -> bool,
    ) -> io::Result<Left> {
        let mut shown: Option<TopReport> = None;
        let mut stale = true;
        loop {
            match reports.try_recv() {
                Ok(report) => (shown, stale) = (Some(report), true),
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => panic!("the thread that queries the managers has panicked"),
            }
            if is_interrupted() {
                return Ok(Left::Interrupted);
            }
            if stale {
                let scroll = &mut self.scroll;
                self.terminal.draw(|frame| draw(frame, shown.as_ref(), scroll))?;
                stale = false;
            }
            if !event::poll(TICK)? {
                continue;
            }
            match event::read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => match key.code {
                    KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                        return Ok(Left::Interrupted);
                    }
                    KeyCode::Char('q') | KeyCode::Esc => return Ok(Left::Quit),
                    KeyCode::Down | KeyCode::Char('j') => self.scroll = self.scroll.saturating_add(1),
                    KeyCode::Up | KeyCode::Char('k') => self.scroll = self.scroll.saturating_sub(1),
                    KeyCode::PageDown | KeyCode::Char(' ') => self.scroll = self.scroll.saturating_add(PAGE),
                    KeyCode::PageUp => self.scroll = self.scroll.saturating_sub(PAGE),
                    KeyCode::Home => self.scroll = 0,
                    _ => continue,
                },
                Event::Resize(..) => {}
                _ => continue,
            }
            stale = true;
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        Self::give_back();
    }
}

const HEAD: Style = Style::new().fg(Color::Green).add_modifier(Modifier::BOLD);
const TITLE: Style = Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD);
const LOST: Style = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);
const DIM: Style = Style::new().add_modifier(Modifier::DIM);

fn draw(frame: &mut Frame<'_>, report: Option<&TopReport>, scroll: &mut u16) {
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(1), Constraint::Length(1)]).areas(frame.area());
    let Some(report) = report else {
        return frame.render_widget(Paragraph::new("querying the managers"), head);
    };
    frame.render_widget(Paragraph::new(headline(report)), head);
    let lines: Vec<Line<'_>> = report.managers.iter().flat_map(|manager| self::lines(manager, body)).collect();
    let hidden = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_sub(body.height);
    *scroll = (*scroll).min(hidden);
    frame.render_widget(Paragraph::new(lines).scroll((*scroll, 0)), body);
    let more = if hidden > 0 { format!("   up, down: {hidden} more lines") } else { String::new() };
    frame.render_widget(Paragraph::new(format!("q: quit{more}")).style(DIM), foot);
}

fn headline(report: &TopReport) -> Line<'static> {
    let lost = report.managers.iter().filter(|manager| manager.error.is_some()).count();
    let boards: usize = report.managers.iter().map(|manager| manager.boards.len()).sum();
    let tenants: usize = report.managers.iter().map(|manager| manager.tenants.len()).sum();
    let text = format!(
        "  managers {}, boards {boards}, tenants {tenants}, every {} s",
        report.managers.len(),
        brief::number(report.interval)
    );
    let mut spans = vec![Span::styled("rackloom top", TITLE), Span::raw(text)];
    if lost > 0 {
        spans.push(Span::styled(format!(", {lost} lost"), LOST));
    }
    Line::from(spans)
}

/// A manager's lines: its address, its boards, its tenants.
fn lines(manager: &ManagerRow, area: Rect) -> Vec<Line<'static>> {
    let width = usize::from(area.width);
    let mut lines = vec![
        Line::default(),
        match &manager.error {
            Some(why) => Line::styled(format!("{}: lost, {why}", manager.address), LOST),
            None => Line::styled(manager.address.clone(), TITLE),
        },
    ];
    // Names get the columns that the numbers leave.
    let names = width.saturating_sub(59).clamp(12, 60);
    let columns = [names, 4, 5, 3, 6, 5, 5, 4, 5, 4];
    lines.push(Line::styled(
        aligned(&BoardRow::HEADINGS.map(|head| head.trim_start_matches('>').to_owned()), &columns),
        HEAD,
    ));
    for board in &manager.boards {
        let style = if manager.error.is_some() { DIM } else { load(board.utilisation) };
        lines.push(Line::styled(aligned(&board.cells(names), &columns), style));
    }
    if manager.tenants.is_empty() {
        return lines;
    }
    let names = (width.saturating_sub(5 + 6 + BAR) / 2).clamp(12, 40);
    let columns = [names, 5, names];
    lines.push(Line::default());
    lines.push(Line::styled(aligned(&["TENANT", "SHARE", "BOARD"].map(str::to_owned), &columns), HEAD));
    for tenant in &manager.tenants {
        let [name, share, board] = tenant.cells(columns[0]);
        let bar = width.saturating_sub(columns.iter().sum::<usize>() + 6).min(BAR);
        let full = (tenant.share.unwrap_or(0.0).clamp(0.0, 1.0) * bar as f64).round() as usize;
        let row = format!("{:<1$}  ", aligned(&[name, share, board], &columns), columns.iter().sum::<usize>() + 4);
        lines.push(Line::from(vec![Span::raw(row), Span::styled("█".repeat(full), Style::new().fg(Color::Cyan))]));
    }
    lines
}

/// The colour of a board's utilisation.
fn load(utilisation: Option<f64>) -> Style {
    match utilisation {
        Some(part) if part >= 0.9 => Style::new().fg(Color::Yellow),
        _ => Style::new(),
    }
}

/// Cells in columns: the first, and the third of three, to the left; numbers to the right.
fn aligned(cells: &[String], columns: &[usize]) -> String {
    let last = cells.len() - 1;
    let cell = |(at, (text, width)): (usize, (&String, &usize))| {
        if at == 0 || (at == last && cells.len() == 3) { format!("{text:<width$}") } else { format!("{text:>width$}") }
    };
    cells.iter().zip(columns).enumerate().map(cell).collect::<Vec<_>>().join("  ").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::super::report::TenantRow;
    use super::*;

    fn report(lost: bool, tenants: usize) -> TopReport {
        let board = BoardRow {
            board: "pthread-skylake-avx512-AMD EPYC #2".to_owned(),
            utilisation: (!lost).then_some(0.57),
            ..BoardRow::default()
        };
        let tenant =
            |number| TenantRow { tenant: format!("t-{number}"), board: board.board.clone(), share: Some(0.25) };
        let tenants = (0..tenants).map(tenant).collect();
        let (state, error) = if lost { ("lost", Some("connection refused".to_owned())) } else { ("up", None) };
        let manager = ManagerRow { address: "h:9464".into(), state, error, boards: vec![board], tenants };
        TopReport { schema: "rackloom.top/1", interval: 1.0, managers: vec![manager] }
    }

    fn drawn(report: &TopReport, width: u16, height: u16, scroll: &mut u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, Some(report), scroll)).unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn boards_tenants_and_lost_managers_are_shown() {
        let text = drawn(&report(false, 2), 100, 20, &mut 0);
        for part in ["rackloom top", "tenants 2", "AMD EPYC #2", "57%", "t-0", "25%", "█████"] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        let text = drawn(&report(true, 0), 80, 10, &mut 0);
        assert!(text.contains("1 lost") && text.contains("lost, connection refused"), "{text}");
    }

    #[test]
    fn long_lists_scroll_and_no_terminal_is_too_small() {
        let long = report(false, 50);
        let text = drawn(&long, 80, 12, &mut 0);
        assert!(text.contains("t-0") && !text.contains("t-49") && text.contains("more lines"), "{text}");
        let mut scroll = 1000;
        let text = drawn(&long, 80, 12, &mut scroll);
        assert!(text.contains("t-49") && scroll == 46, "{scroll}\n{text}");
        for (width, height) in [(1, 1), (5, 2), (20, 3), (300, 100)] {
            drawn(&long, width, height, &mut 3);
        }
    }
}
