use super::agent::Pipes;
use super::connection::{Connection, Lost};
use super::log;
use super::signals::Signals;
use super::socket::Socket;
use super::stderr::StderrTail;
use crate::clock::now;
use crate::core::{ConnectionId, Effect, Input, KeeperCore, Now, Pushed};
use crate::limits::{
    HELLO_BYTES_MAX, LINE_PART_BYTES_MAX, MESSAGE_BYTES_MAX, PUSH_BYTES_MAX, SOCKET_CHECK_EVERY,
    UNGREETED_CONNECTIONS_MAX, UNGREETED_MAX,
};
use crate::registry::KeeperRecord;
use crate::spool::DirFs;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// Reads from one pipe before the others have their turn.
const READS_IN_TURN: usize = 4;
/// Calls of one connection before the others have their turn.
const CALLS_IN_TURN: usize = 16;
/// How long the last answers are offered to a host when all is over.
const LAST_SEND_MAX: Duration = Duration::from_secs(1);
/// How often the socket is checked while a host is connected, which does not need it.
const SOCKET_CHECK_ATTACHED_EVERY: Duration = Duration::from_secs(10);

/// The process around a core: descriptors, buffers, and nothing that is decided.
#[derive(Debug)]
pub(super) struct Shell {
    pub(super) core: KeeperCore<DirFs>,
    pub(super) record: KeeperRecord,
    pub(super) effects: VecDeque<Effect>,
    pub(super) connections: Vec<Connection>,
    pub(super) pipes: Pipes,
    pub(super) stderr: StderrTail,
    pub(super) finish: bool,
    /// Something below has died while the tree is being ended.
    pub(super) look_soon: bool,
    signals: Signals,
    socket: Socket,
    socket_checked_at: Now,
    last_connection: u64,
    buffer: Box<[u8]>,
    /// What was read from stdout; the part that the core has not taken lies between the two ends.
    output: Box<[u8]>,
    output_from: usize,
    output_to: usize,
    scratch: Vec<u8>,
}

impl Shell {
    pub(super) fn new(
        core: KeeperCore<DirFs>,
        record: KeeperRecord,
        signals: Signals,
        socket: Socket,
    ) -> Self {
        Self {
            core,
            record,
            effects: VecDeque::new(),
            connections: Vec::new(),
            pipes: Pipes::default(),
            stderr: StderrTail::default(),
            finish: false,
            look_soon: false,
            signals,
            socket,
            socket_checked_at: now(),
            last_connection: 0,
            buffer: vec![0; LINE_PART_BYTES_MAX].into_boxed_slice(),
            output: vec![0; LINE_PART_BYTES_MAX].into_boxed_slice(),
            output_from: 0,
            output_to: 0,
            scratch: Vec::with_capacity(PUSH_BYTES_MAX),
        }
    }

    pub(super) fn run(mut self) -> io::Result<()> {
        while !self.finish {
            self.wait()?;
            if let Some(signal) = self.signals.take() {
                self.step(Input::OutsideSignal(signal));
            }
            self.reap();
            if std::mem::take(&mut self.look_soon) {
                self.look();
            }
            self.drain_stderr();
            // Before any call: whether nothing was written since is decided on what was written.
            self.read_output();
            self.accept();
            self.take_calls();
            self.step(Input::Tick);
            self.write_stdin();
            self.send();
            self.check_socket();
        }
        self.send_last();
        Ok(())
    }

    /// Sleeps until something can be done.
    fn wait(&self) -> io::Result<()> {
        let readable = PollFlags::IN;
        let mut fds = vec![
            PollFd::from_borrowed_fd(self.signals.fd(), readable),
            PollFd::from_borrowed_fd(self.socket.fd(), readable),
        ];
        if self.core.wants_output() {
            fds.extend(self.pipes.stdout.as_ref().map(|fd| PollFd::new(fd, readable)));
        }
        fds.extend(self.pipes.stderr.as_ref().map(|fd| PollFd::new(fd, readable)));
        if self.core.has_stdin_bytes() {
            fds.extend(self.pipes.stdin.as_ref().map(|fd| PollFd::new(fd, PollFlags::OUT)));
        }
        for connection in &self.connections {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, connection.wants_input());
            flags.set(PollFlags::OUT, connection.unsent() > 0);
            fds.push(PollFd::new(&connection.fd, flags));
        }
        let timeout = self.next_tick().saturating_sub(now());
        let timeout = Timespec {
            tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        };
        match rustix::event::poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    fn next_tick(&self) -> Now {
        let has_output = self.output_from < self.output_to && self.core.wants_output();
        let has_calls = self.connections.iter().any(Connection::has_call);
        let at_once = (has_output || has_calls || self.look_soon).then_some(Now::ZERO);
        let host = self.core.host_connection();
        let ungreeted = self.connections.iter().filter(|each| Some(each.id) != host);
        let ungreeted = ungreeted.map(|each| each.opened_at.saturating_add(UNGREETED_MAX)).min();
        let socket = self.socket_check_at();
        [at_once, self.core.next_tick(), ungreeted].into_iter().flatten().fold(socket, Now::min)
    }

    fn socket_check_at(&self) -> Now {
        let every = match self.core.host_connection() {
            Some(_) => SOCKET_CHECK_ATTACHED_EVERY,
            None => SOCKET_CHECK_EVERY,
        };
        self.socket_checked_at.saturating_add(every)
    }

    fn check_socket(&mut self) {
        if now() >= self.socket_check_at() {
            self.socket_checked_at = now();
            self.socket.check();
        }
    }

    fn drain_stderr(&mut self) {
        for _ in 0..READS_IN_TURN {
            match read(&mut self.pipes.stderr, &mut self.buffer) {
                ReadPipe::Bytes(bytes) => {
                    self.stderr.keep(self.buffer.get(..bytes).unwrap_or_default());
                }
                ReadPipe::Empty | ReadPipe::Ended => return,
            }
        }
    }

    fn read_output(&mut self) {
        for _ in 0..READS_IN_TURN {
            if !self.core.wants_output() {
                return;
            }
            if self.output_from == self.output_to {
                match read(&mut self.pipes.stdout, &mut self.output) {
                    ReadPipe::Bytes(bytes) => (self.output_from, self.output_to) = (0, bytes),
                    ReadPipe::Ended => return self.step(Input::OutputEnded),
                    ReadPipe::Empty if self.core.takes_last_bytes() => {
                        return self.step(Input::OutputEnded);
                    }
                    ReadPipe::Empty => return,
                }
            }
            let bytes = self.output.get(self.output_from..self.output_to).unwrap_or_default();
            self.output_from += self.core.output(now(), bytes);
        }
    }

    fn write_stdin(&mut self) {
        while self.core.has_stdin_bytes() {
            let at_start = self.core.is_at_frame_start();
            let mut length = self.core.stdin_bytes(&mut self.buffer);
            let torn = at_start && holdfast_fault::is_next("keeper.frame.mid");
            if torn {
                length = length.div_ceil(2);
            }
            let bytes = self.buffer.get(..length).unwrap_or_default();
            let written = match &self.pipes.stdin {
                Some(stdin) => rustix::io::write(stdin, bytes),
                None => Err(Errno::PIPE),
            };
            if at_start && written.is_ok() {
                holdfast_fault::point("keeper.frame.mid");
            }
            match written {
                Ok(written) => self.step(Input::StdinTook(written)),
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR) => {}
                Err(_) => {
                    self.pipes.stdin = None;
                    self.step(Input::StdinBroken);
                }
            }
        }
    }

    fn accept(&mut self) {
        while let Some(fd) = self.socket.accept() {
            self.last_connection += 1;
            let id = ConnectionId(self.last_connection);
            self.connections.push(Connection::new(id, fd, now()));
            let host = self.core.host_connection();
            let mut ungreeted = self.connections.iter().filter(|each| Some(each.id) != host);
            let oldest = ungreeted.next().map(|each| each.id);
            if ungreeted.count() >= UNGREETED_CONNECTIONS_MAX
                && let Some(oldest) = oldest
            {
                self.drop_connection(oldest);
            }
        }
        let host = self.core.host_connection();
        let now = now();
        self.connections.retain(|each| {
            Some(each.id) == host || now < each.opened_at.saturating_add(UNGREETED_MAX)
        });
    }

    fn take_calls(&mut self) {
        for id in self.connections.iter().map(|each| each.id).collect::<Vec<_>>() {
            if self.take_calls_of(id).is_err() {
                self.drop_connection(id);
            }
        }
    }

    fn take_calls_of(&mut self, id: ConnectionId) -> Result<(), Lost> {
        let Some(connection) = self.connections.iter_mut().find(|each| each.id == id) else {
            return Ok(());
        };
        if connection.wants_input() && !connection.has_call() {
            connection.receive()?;
        }
        for _ in 0..CALLS_IN_TURN {
            let greeted = self.core.host_connection() == Some(id);
            let max = if greeted { MESSAGE_BYTES_MAX } else { HELLO_BYTES_MAX };
            // A call may have closed the connection, or another one by taking over.
            let Some(connection) = self.connections.iter_mut().find(|each| each.id == id) else {
                return Ok(());
            };
            if !connection.wants_input() {
                return Ok(());
            }
            let Some((message, taken)) = connection.message(max).map_err(|_| Lost)? else {
                return Ok(());
            };
            self.core.step(now(), Input::Message(id, message), &mut self.effects);
            connection.forget(taken);
            self.act_on_all();
        }
        Ok(())
    }

    fn drop_connection(&mut self, id: ConnectionId) {
        self.connections.retain(|each| each.id != id);
        self.step(Input::Closed(id));
    }

    /// Sends answers, and records while the peer takes them.
    fn send(&mut self) {
        let mut lost = Vec::new();
        let host = self.core.host_connection();
        for connection in &mut self.connections {
            for _ in 0..READS_IN_TURN {
                if connection.send().is_err() {
                    lost.push(connection.id);
                    break;
                }
                if connection.unsent() > 0 || Some(connection.id) != host {
                    break;
                }
                match self.core.push_records(connection.output(), &mut self.scratch) {
                    Ok(Pushed::Some) => {}
                    Ok(Pushed::Nothing) => break,
                    Err(error) => {
                        log(&error);
                        lost.push(connection.id);
                        break;
                    }
                }
            }
        }
        for id in lost {
            self.drop_connection(id);
        }
    }

    /// The process ends: what was answered is still sent, for a moment.
    fn send_last(&mut self) {
        let until = now().saturating_add(LAST_SEND_MAX);
        while now() < until {
            self.connections.retain_mut(|each| each.send().is_ok() && each.unsent() > 0);
            let mut fds: Vec<_> =
                self.connections.iter().map(|each| PollFd::new(&each.fd, PollFlags::OUT)).collect();
            if fds.is_empty() {
                return;
            }
            let timeout = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
            let _ = rustix::event::poll(&mut fds, Some(&timeout));
        }
    }
}

enum ReadPipe {
    Bytes(usize),
    Empty,
    Ended,
}

/// Reads once. A pipe that has ended is closed.
fn read(pipe: &mut Option<OwnedFd>, buffer: &mut [u8]) -> ReadPipe {
    let Some(fd) = pipe else { return ReadPipe::Ended };
    match rustix::io::read(&*fd, buffer) {
        Ok(bytes) if bytes > 0 => ReadPipe::Bytes(bytes),
        Err(Errno::AGAIN | Errno::INTR) => ReadPipe::Empty,
        Ok(_) | Err(_) => {
            *pipe = None;
            ReadPipe::Ended
        }
    }
}
