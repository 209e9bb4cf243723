use super::*;
use crate::limits::{DRAIN_MAX, KILL_MAX, LOOK_EVERY};
use crate::protocol::{
    Call, Cancelled, Frames, Hello, PROTOCOL_VERSION, ReadFrom, Refusal, Stall, Stop, StopScope,
    WriteChunk, Written,
};
use crate::record::{FoundBy, Record, SignalledBy, TreeEnd};
use crate::registry::{Limits, Secret};
use crate::spool::{Assembler, PowerCutFs, SpoolReader};
use proptest::prelude::*;
use uuid::Uuid;

const AGENT: ProcessId = ProcessId { pid: 7, start_time: 9 };
const HOST: ConnectionId = ConnectionId(1);
const CLOSED: Record = Record::StdoutClosed { lost_bytes: 0 };

fn spec() -> Spec {
    Spec {
        attempt: Uuid::from_u128(1),
        secret: Secret::from_bytes([1; 32]),
        incarnation: Uuid::from_u128(2),
        limits: Limits {
            host_gone_ms: 60_000,
            start_wait_ms: 5_000,
            grace_ms: 1_000,
            ..Limits::default()
        },
    }
}

/// A core with a clock, in place of the shell.
struct Keeper {
    core: KeeperCore<PowerCutFs>,
    now: Now,
    effects: VecDeque<Effect>,
}

impl Keeper {
    fn new() -> Self {
        let now = Duration::from_secs(1000);
        let core = KeeperCore::new(spec(), PowerCutFs::new(), 5, now).unwrap();
        Self { core, now, effects: VecDeque::new() }
    }

    /// With a host and a running agent.
    fn running() -> Self {
        let mut keeper = Self::new();
        keeper.greet(HOST, Some(start()));
        let effects = keeper.step(Input::Born(AGENT));
        assert!(matches!(effects[..], [Effect::Reply(HOST, 1, Reply::Welcome(_))]));
        keeper
    }

    fn step(&mut self, input: Input<'_>) -> Vec<Effect> {
        self.core.step(self.now, input, &mut self.effects);
        self.effects.drain(..).collect()
    }

    fn call(&mut self, connection: ConnectionId, call: &Call<'_>) -> Vec<Effect> {
        let mut out = Vec::new();
        call.encode(1, &mut out);
        let (message, _) = Message::take(&out, usize::MAX).unwrap().unwrap();
        self.step(Input::Message(connection, message))
    }

    fn greet(&mut self, connection: ConnectionId, start: Option<Start>) -> Vec<Effect> {
        self.call(connection, &hello(start))
    }

    fn ask(&mut self, call: &Call<'_>) -> Reply<'static> {
        match self.call(HOST, call).into_iter().next() {
            Some(Effect::Reply(HOST, 1, reply)) => reply,
            other => panic!("{other:?}"),
        }
    }

    fn write(&mut self, number: u64, bytes: &[u8]) -> Reply<'static> {
        let total = bytes.len() as u64;
        self.ask(&Call::WriteFrame(WriteChunk { number, total, offset: 0, bytes }))
    }

    fn stop(&mut self, grace_ms: u64) -> Vec<Effect> {
        let scope = StopScope::Tree { grace: Duration::from_millis(grace_ms) };
        self.call(HOST, &Call::Stop(Stop { scope, unless_after: None }))
    }

    fn after(&mut self, time: Duration) -> Vec<Effect> {
        self.now += time;
        self.step(Input::Tick)
    }

    fn looked(&mut self, count: u64) -> Vec<Effect> {
        self.step(Input::Looked(Look { named: survivors(count), count }))
    }

    fn output(&mut self, bytes: &str) -> usize {
        self.core.output(self.now, bytes.as_bytes())
    }

    fn stdin(&mut self) -> Vec<u8> {
        let mut buffer = [0; 100];
        let read = self.core.stdin_bytes(&mut buffer);
        buffer[..read].to_vec()
    }

    /// No more space than is allocated.
    fn fill_disk(&mut self) {
        let fs = self.core.spool.fs();
        let allocated = fs.allocated();
        fs.set_capacity(Some(allocated));
    }

    fn free_disk(&mut self) {
        self.core.spool.fs().set_capacity(None);
    }

    /// No space at all, the reserve included: what a disk that fails looks like.
    fn break_disk(&mut self) {
        self.core.spool.break_reserve();
        self.core.spool.fs().set_capacity(Some(0));
    }

    fn files(&mut self) -> PowerCutFs {
        self.core.spool.fs().clone()
    }

    fn records(&mut self) -> Vec<Record> {
        read(self.files())
    }
}

fn read(fs: PowerCutFs) -> Vec<Record> {
    SpoolReader::open(fs, spec().attempt, 0).unwrap().map(|record| record.unwrap().0).collect()
}

fn hello(start: Option<Start>) -> Call<'static> {
    let Spec { attempt, secret, incarnation, .. } = spec();
    Call::Hello(Box::new(Hello { version: PROTOCOL_VERSION, attempt, secret, incarnation, start }))
}

fn start() -> Start {
    Start { argv: vec!["agent".into()], env: Vec::new(), cwd: "/".into() }
}

fn line(text: &str) -> Record {
    Record::Line(text.as_bytes().to_vec())
}

fn survivors(count: u64) -> Vec<Survivor> {
    (0..count)
        .map(|index| Survivor {
            process: ProcessId { pid: 100 + u32::try_from(index).unwrap(), start_time: 1 },
            uid: 0,
            state: 'D',
            command: "stuck".to_owned(),
            found_by: FoundBy::Descent,
        })
        .collect()
}

fn refused(refusal: Refusal) -> Reply<'static> {
    Reply::Refused(refusal)
}

#[test]
fn the_greeting_that_starts_is_answered_when_the_agent_is_born() {
    let mut keeper = Keeper::new();
    assert_eq!(keeper.greet(HOST, Some(start())), [Effect::Start(start())]);
    assert_eq!(keeper.records(), []);
    let effects = keeper.step(Input::Born(AGENT));
    let [Effect::Reply(HOST, 1, Reply::Welcome(welcome))] = &effects[..] else {
        panic!("{effects:?}");
    };
    assert_eq!((welcome.agent, welcome.end), (AgentState::Running(AGENT), 1));
    assert_eq!(keeper.records(), [Record::Started(AGENT)]);
    // Again, from a host that does not know that it was started.
    let effects = keeper.greet(HOST, Some(start()));
    assert!(matches!(effects[..], [Effect::Reply(..)]), "{effects:?}");
}

#[test]
fn a_greeting_takes_the_older_host_over() {
    let mut keeper = Keeper::running();
    let newer = ConnectionId(2);
    let effects = keeper.greet(newer, None);
    assert!(matches!(effects[..], [Effect::Close(HOST), Effect::Reply(newer, ..)] if newer.0 == 2));
    assert_eq!(keeper.core.host_connection(), Some(newer));
    let effects = keeper.call(HOST, &Call::Status);
    assert_eq!(
        effects,
        [Effect::Reply(HOST, 1, refused(Refusal::NotGreeted)), Effect::Close(HOST)]
    );
    // The older one's end is no news.
    keeper.step(Input::Closed(HOST));
    assert_eq!(keeper.core.host_connection(), Some(newer));
}

#[test]
fn a_frame_has_begun_on_disk_before_its_first_byte_and_is_done_after_its_last() {
    let mut keeper = Keeper::running();
    assert_eq!(keeper.write(1, b"hello\n"), Reply::Written(Written::Accepted));
    assert_eq!(keeper.records()[1..], [Record::FrameBegun(1)]);
    assert_eq!(keeper.stdin(), b"hello\n");
    keeper.step(Input::StdinTook(5));
    assert_eq!(keeper.records()[1..], [Record::FrameBegun(1)]);
    assert_eq!(keeper.stdin(), b"\n");
    keeper.step(Input::StdinTook(1));
    assert_eq!(keeper.records()[1..], [Record::FrameBegun(1), Record::FrameDone(1)]);
}

#[test]
fn frames_given_before_the_birth_are_written_after_it() {
    let mut keeper = Keeper::new();
    keeper.greet(HOST, None);
    assert_eq!(keeper.write(1, b"early"), Reply::Written(Written::Accepted));
    assert!(!keeper.core.has_stdin_bytes());
    keeper.greet(HOST, Some(start()));
    keeper.step(Input::Born(AGENT));
    assert_eq!(keeper.stdin(), b"early");
    assert_eq!(keeper.records(), [Record::Started(AGENT), Record::FrameBegun(1)]);
}

#[test]
fn one_frame_is_in_flight_and_the_order_of_lines_and_marks_is_kept() {
    let mut keeper = Keeper::running();
    keeper.write(1, b"one");
    keeper.write(2, b"two");
    keeper.output("a\n");
    keeper.step(Input::StdinTook(3));
    keeper.output("b\n");
    keeper.step(Input::StdinTook(3));
    let expected = [
        Record::FrameBegun(1),
        line("a"),
        Record::FrameDone(1),
        Record::FrameBegun(2),
        line("b"),
        Record::FrameDone(2),
    ];
    assert_eq!(keeper.records()[1..], expected);
}

#[test]
fn without_space_for_its_beginning_no_frame_begins() {
    let mut keeper = Keeper::running();
    keeper.break_disk();
    assert_eq!(keeper.write(1, b"x"), Reply::Written(Written::Accepted));
    assert!(!keeper.core.has_stdin_bytes());
    assert_eq!(keeper.stdin(), b"");
    let cancel = keeper.ask(&Call::CancelFrame { number: 1 });
    assert_eq!(cancel, refused(Refusal::NoSpace), "nor can it be taken back off the record");
    keeper.free_disk();
    keeper.after(Duration::from_millis(999));
    assert!(!keeper.core.has_stdin_bytes(), "tried each second");
    keeper.after(Duration::from_millis(1));
    assert_eq!(keeper.stdin(), b"x");
    assert_eq!(keeper.records()[1..], [Record::FrameBegun(1)]);
}

#[test]
fn on_a_full_disk_lines_wait_and_marks_do_not() {
    let mut keeper = Keeper::running();
    keeper.fill_disk();
    let long = "x".repeat(30_000) + "\n";
    let mut lines = 0;
    while keeper.output(&long) == long.len() {
        lines += 1;
    }
    assert!(!keeper.core.wants_output());
    assert_eq!(keeper.core.stall(), Some(Stall::Disk));
    assert_eq!(keeper.output("not now\n"), 0);
    keeper.after(RETRY_EVERY);
    assert!(keeper.core.wants_output(), "tried again");
    assert_eq!(keeper.output(&long), 0, "and failed");
    assert_eq!(keeper.write(1, b"x"), Reply::Written(Written::Accepted));
    keeper.after(RETRY_EVERY);
    keeper.step(Input::StdinTook(1));
    keeper.free_disk();
    keeper.after(RETRY_EVERY);
    assert_eq!(keeper.output("at last\n"), 8);
    let records = keeper.records();
    let tail = [Record::FrameBegun(1), Record::FrameDone(1), line("at last")];
    assert_eq!(records[records.len() - 3..], tail);
    assert_eq!(records.len(), 1 + lines + 3);
}

#[test]
fn records_that_a_broken_disk_could_not_take_are_written_later_in_their_order() {
    let mut keeper = Keeper::running();
    keeper.write(1, b"x");
    keeper.output("begun");
    keeper.break_disk();
    keeper.step(Input::StdinTook(1));
    keeper.stop(0);
    keeper.step(Input::AgentExited(Exit::Signal(9)));
    keeper.looked(0);
    assert!(keeper.core.takes_last_bytes());
    assert_eq!(keeper.output("lost"), 4, "a dead agent's bytes cannot wait");
    keeper.step(Input::OutputEnded);
    assert_eq!(keeper.records(), [Record::Started(AGENT), Record::FrameBegun(1)]);
    keeper.free_disk();
    keeper.after(RETRY_EVERY);
    let expected = [
        Record::FrameDone(1),
        Record::Signalled { signal: 15, by: SignalledBy::Host },
        Record::Torn(b"begun".to_vec()),
        Record::StdoutClosed { lost_bytes: 4 },
        Record::Exited { exit: Exit::Signal(9), tree: TreeEnd::Clear },
    ];
    assert_eq!(keeper.records()[2..], expected);
}

#[test]
fn a_stop_is_on_record_before_its_signal_and_gets_harder() {
    let mut keeper = Keeper::running();
    let effects = keeper.stop(500);
    assert_eq!(effects[0], Effect::Signal(Target::Tree, 15));
    assert_eq!(effects[1], Effect::Reply(HOST, 1, Reply::Stopping));
    let signalled = Record::Signalled { signal: 15, by: SignalledBy::Host };
    assert_eq!(keeper.records()[1..], [signalled]);
    assert_eq!(keeper.after(LOOK_EVERY), [Effect::Look]);
    assert_eq!(keeper.looked(2), []);
    assert_eq!(keeper.after(Duration::from_millis(500)), [Effect::Look]);
    assert_eq!(keeper.looked(2), [Effect::Signal(Target::Tree, 9)]);
    assert_eq!(keeper.after(LOOK_EVERY), [Effect::Look]);
    assert_eq!(keeper.looked(1), [Effect::Signal(Target::Tree, 9)], "until nothing is found");
    assert_eq!(keeper.step(Input::AgentExited(Exit::Signal(9))), [Effect::Look]);
    keeper.looked(1);
    assert!(!keeper.core.takes_last_bytes());
    keeper.looked(0);
    assert!(keeper.core.takes_last_bytes());
    keeper.output("last words\n");
    keeper.step(Input::OutputEnded);
    let exited = Record::Exited { exit: Exit::Signal(9), tree: TreeEnd::Clear };
    assert_eq!(keeper.records()[2..], [line("last words"), CLOSED, exited]);
}

#[test]
fn nothing_is_clear_while_the_agent_itself_has_not_exited() {
    let mut keeper = Keeper::running();
    keeper.stop(0);
    keeper.looked(0);
    assert!(!keeper.core.takes_last_bytes(), "its exit is still to come");
}

#[test]
fn what_cannot_be_killed_is_named_after_a_while() {
    let mut keeper = Keeper::running();
    keeper.stop(0);
    keeper.step(Input::AgentExited(Exit::Signal(9)));
    keeper.after(KILL_MAX);
    keeper.looked(3);
    keeper.step(Input::OutputEnded);
    let tree = TreeEnd::Survivors { named: survivors(3), count: 3 };
    let exited = Record::Exited { exit: Exit::Signal(9), tree };
    assert_eq!(keeper.records().last(), Some(&exited));
}

#[test]
fn an_agent_that_ends_by_itself_has_its_stdout_read_and_its_tree_ended() {
    let mut keeper = Keeper::running();
    assert_eq!(keeper.step(Input::AgentExited(Exit::Code(0))), [Effect::Look]);
    assert_eq!(keeper.looked(1), [], "what is left may still write");
    keeper.output("late\n");
    assert_eq!(keeper.after(DRAIN_MAX), [Effect::Look]);
    assert_eq!(keeper.looked(1), [Effect::Signal(Target::Tree, 15)]);
    assert_eq!(keeper.after(Duration::from_millis(1000)), [Effect::Look]);
    assert_eq!(keeper.looked(1), [Effect::Signal(Target::Tree, 9)]);
    keeper.looked(0);
    keeper.step(Input::OutputEnded);
    let exited = Record::Exited { exit: Exit::Code(0), tree: TreeEnd::Clear };
    assert_eq!(keeper.records()[1..], [line("late"), CLOSED, exited]);
}

#[test]
fn a_closed_stdout_is_not_waited_for() {
    let mut keeper = Keeper::running();
    keeper.step(Input::OutputEnded);
    keeper.step(Input::AgentExited(Exit::Code(0)));
    assert_eq!(keeper.looked(1), [Effect::Signal(Target::Tree, 15)]);
}

#[test]
fn a_survivor_that_goes_on_writing_does_not_keep_the_end_off() {
    let mut keeper = Keeper::running();
    keeper.stop(0);
    keeper.step(Input::AgentExited(Exit::Signal(9)));
    keeper.after(KILL_MAX);
    keeper.looked(1);
    let mut bytes = 0;
    while keeper.core.takes_last_bytes() {
        bytes += keeper.output(&"x".repeat(32_000));
        assert!(bytes < 10_000_000);
    }
    keeper.step(Input::Tick);
    assert!(matches!(keeper.records().last(), Some(Record::Exited { .. })));
}

#[test]
fn the_end_waits_to_be_acknowledged() {
    let mut keeper = Keeper::running();
    keeper.step(Input::AgentExited(Exit::Code(0)));
    keeper.looked(0);
    assert_eq!(keeper.step(Input::OutputEnded), []);
    let end = keeper.core.spool().end();
    let ahead = keeper.ask(&Call::Acknowledge { position: end + 1 });
    assert_eq!(ahead, refused(Refusal::Ahead { end }));
    assert_eq!(keeper.ask(&Call::Acknowledge { position: end - 1 }), Reply::Acknowledged);
    let effects = keeper.call(HOST, &Call::Acknowledge { position: end });
    assert_eq!(effects[0], Effect::Reply(HOST, 1, Reply::Acknowledged));
    assert!(effects.contains(&Effect::Finish));
}

#[test]
fn what_was_read_before_the_end_does_not_acknowledge_the_end() {
    let mut keeper = Keeper::running();
    assert_eq!(keeper.call(HOST, &Call::Acknowledge { position: 1 }).len(), 1, "no finish");
    keeper.step(Input::AgentExited(Exit::Code(0)));
    keeper.looked(0);
    assert_eq!(keeper.step(Input::OutputEnded), []);
}

#[test]
fn the_agent_alone_is_ended_and_its_children_are_held() {
    let mut keeper = Keeper::running();
    let scope = StopScope::Agent { grace: Duration::from_millis(100) };
    let effects = keeper.call(HOST, &Call::Stop(Stop { scope, unless_after: None }));
    assert_eq!(effects[0], Effect::Signal(Target::Agent, 15));
    keeper.after(Duration::from_millis(100));
    assert_eq!(keeper.looked(2), [Effect::Signal(Target::Agent, 9)]);
    keeper.step(Input::AgentExited(Exit::Signal(9)));
    keeper.looked(1);
    keeper.step(Input::OutputEnded);
    let tree = TreeEnd::Left { named: survivors(1), count: 1 };
    assert_eq!(keeper.records().last(), Some(&Record::Exited { exit: Exit::Signal(9), tree }));
    assert_eq!(keeper.core.phase(), Phase::Holding);
    // Its stdout is read on and dropped, so that it does not block.
    assert!(keeper.core.wants_output());
    assert_eq!(keeper.output("dropped\n"), 8);
    let end = keeper.core.spool().end();
    assert_eq!(keeper.ask(&Call::Acknowledge { position: end }), Reply::Acknowledged);
    keeper.after(RETRY_EVERY);
    assert_eq!(keeper.looked(1), []);
    assert_eq!(keeper.looked(0), [Effect::Finish]);
}

#[test]
fn what_is_held_can_be_ended_later() {
    let mut keeper = Keeper::running();
    let scope = StopScope::Agent { grace: Duration::ZERO };
    keeper.call(HOST, &Call::Stop(Stop { scope, unless_after: None }));
    keeper.step(Input::AgentExited(Exit::Signal(9)));
    keeper.looked(1);
    keeper.step(Input::OutputEnded);
    let before = keeper.records();
    assert_eq!(keeper.stop(0)[0], Effect::Signal(Target::Tree, 9));
    assert_eq!(keeper.core.phase(), Phase::Stopping);
    keeper.looked(0);
    assert_eq!(keeper.core.phase(), Phase::Ended);
    assert_eq!(keeper.records(), before, "nothing comes behind the last record");
}

#[test]
fn a_signal_from_outside_is_durable_before_it_is_carried_out() {
    let mut keeper = Keeper::running();
    keeper.output("a line\n");
    let effects = keeper.step(Input::OutsideSignal(1));
    assert_eq!(effects, [Effect::Signal(Target::Tree, 15)]);
    let mut fs = keeper.files();
    fs.power_cut(|_| 0);
    let signalled = Record::Signalled { signal: 1, by: SignalledBy::Outside };
    assert_eq!(read(fs)[1..], [line("a line"), signalled]);
    assert_eq!(keeper.step(Input::OutsideSignal(1)), [Effect::Signal(Target::Tree, 9)]);
    keeper.step(Input::AgentExited(Exit::Signal(9)));
    keeper.looked(0);
    let effects = keeper.step(Input::OutputEnded);
    assert_eq!(effects, [Effect::Finish], "also unread");
    let mut fs = keeper.files();
    fs.power_cut(|_| 0);
    assert!(matches!(read(fs).last(), Some(Record::Exited { .. })), "the end is durable too");
}

#[test]
fn unread_records_are_synced_once_a_second_while_no_host_is_there() {
    let durable = |keeper: &mut Keeper| {
        let mut fs = keeper.files();
        fs.power_cut(|_| 0);
        read(fs)
    };
    let mut keeper = Keeper::running();
    keeper.output("one\n");
    keeper.after(RETRY_EVERY * 5);
    assert_eq!(durable(&mut keeper), [], "a host that is attached has them");
    keeper.step(Input::Closed(HOST));
    assert_eq!(durable(&mut keeper), [Record::Started(AGENT), line("one")]);
    keeper.output("two\n");
    assert_eq!(keeper.core.next_tick(), Some(keeper.now + RETRY_EVERY));
    keeper.after(RETRY_EVERY / 2);
    assert_eq!(durable(&mut keeper).len(), 2);
    keeper.after(RETRY_EVERY / 2);
    assert_eq!(durable(&mut keeper).len(), 3);
}

#[test]
fn without_a_start_in_time_it_ends() {
    let mut keeper = Keeper::new();
    keeper.greet(HOST, None);
    assert_eq!(keeper.after(Duration::from_millis(4_999)), []);
    assert_eq!(keeper.after(Duration::from_millis(1)), [Effect::Finish]);
}

#[test]
fn a_start_at_the_last_moment_counts() {
    let mut keeper = Keeper::new();
    keeper.now += Duration::from_millis(5_000);
    assert_eq!(keeper.greet(HOST, Some(start())), [Effect::Start(start())]);
    keeper.step(Input::Born(AGENT));
    assert_eq!(keeper.after(Duration::from_millis(5_000)), []);
}

#[test]
fn without_a_host_for_too_long_the_tree_is_ended() {
    let mut keeper = Keeper::running();
    assert_eq!(keeper.after(Duration::from_secs(3600)), [], "while one is attached no time counts");
    keeper.step(Input::Closed(HOST));
    assert_eq!(keeper.after(Duration::from_millis(59_999)), []);
    assert_eq!(keeper.after(Duration::from_millis(1)), [Effect::Signal(Target::Tree, 15)]);
    let lost = Record::Signalled { signal: 15, by: SignalledBy::HostLost };
    assert_eq!(keeper.records()[1..], [lost]);
    assert_eq!(keeper.after(Duration::from_secs(3600)), [Effect::Look], "once");
}

#[test]
fn a_host_that_comes_back_starts_the_time_anew() {
    let mut keeper = Keeper::running();
    keeper.step(Input::Closed(HOST));
    keeper.after(Duration::from_millis(59_000));
    keeper.greet(ConnectionId(2), None);
    keeper.after(Duration::from_millis(59_000));
    keeper.step(Input::Closed(ConnectionId(2)));
    assert_eq!(keeper.after(Duration::from_millis(59_000)), []);
}

#[test]
fn records_are_pushed_as_far_as_they_were_granted() {
    let mut keeper = Keeper::running();
    let (mut out, mut scratch) = (Vec::new(), Vec::new());
    for _ in 0..10 {
        keeper.output(&("x".repeat(999) + "\n"));
    }
    let mut push = |keeper: &mut Keeper| {
        out.clear();
        match keeper.core.push_records(&mut out, &mut scratch).unwrap() {
            Pushed::Nothing => None,
            Pushed::Some => {
                let (message, _) = Message::take(&out, usize::MAX).unwrap().unwrap();
                match Reply::decode(&message).unwrap() {
                    Reply::Push { position, bytes } => Some((position, bytes.to_vec())),
                    other => panic!("{other:?}"),
                }
            }
        }
    };
    assert_eq!(push(&mut keeper), None, "nothing was asked for");
    let cursor = Call::ReadFrom { from: ReadFrom::Cursor, window: 1 };
    assert_eq!(keeper.ask(&cursor), refused(Refusal::Malformed), "nothing to go on with");
    keeper.ask(&Call::ReadFrom { from: ReadFrom::Position(1), window: 2_500 });
    let (position, bytes) = push(&mut keeper).unwrap();
    assert_eq!((position, bytes.len()), (1, 2 * 1023));
    let (position, bytes) = push(&mut keeper).unwrap();
    assert_eq!((position, bytes.len()), (3, 1023), "at least one, then no more");
    assert_eq!(push(&mut keeper), None);
    keeper.ask(&Call::ReadFrom { from: ReadFrom::Cursor, window: 100_000 });
    let (position, bytes) = push(&mut keeper).unwrap();
    let mut assembler = Assembler::new(4);
    assembler.push(position, bytes);
    assert_eq!(std::iter::from_fn(|| assembler.next()).count(), 7);
    assert_eq!(push(&mut keeper), None, "that was all");
    keeper.output("live\n");
    assert_eq!(push(&mut keeper).unwrap().0, 11);
}

#[test]
fn a_frame_that_was_taken_back_is_never_written() {
    let mut keeper = Keeper::running();
    keeper.write(1, b"one");
    keeper.write(2, b"two");
    keeper.write(3, b"three");
    let cancelled = Reply::Cancelled(Cancelled::Cancelled);
    assert_eq!(keeper.ask(&Call::CancelFrame { number: 2 }), cancelled);
    assert_eq!(keeper.ask(&Call::CancelFrame { number: 1 }), Reply::Cancelled(Cancelled::Begun));
    keeper.step(Input::StdinTook(3));
    assert_eq!(keeper.stdin(), b"three");
    assert_eq!(keeper.ask(&Call::CancelFrame { number: 2 }), cancelled, "also now");
    let expected = [
        Record::FrameBegun(1),
        Record::FrameCancelled(2),
        Record::FrameDone(1),
        Record::FrameBegun(3),
    ];
    assert_eq!(keeper.records()[1..], expected);
}

#[test]
fn a_stop_lets_no_frame_begin() {
    let mut keeper = Keeper::running();
    keeper.write(1, b"one");
    keeper.write(2, b"two");
    keeper.stop(1000);
    keeper.step(Input::StdinTook(3));
    assert!(!keeper.core.has_stdin_bytes());
    assert_eq!(keeper.write(3, b"three"), refused(Refusal::Ended));
    assert_eq!(keeper.write(2, b"two"), Reply::Written(Written::Already));
    let frames = Frames { accepted: 2, begun: 1, done: 1 };
    assert_eq!(keeper.core.frames.numbers(), frames);
}

/// What may happen to a keeper, in any order.
fn happening() -> impl Strategy<Value = (u64, u8, u64)> {
    (prop_oneof![Just(0u64), 1u64..50, 900u64..70_000], 0u8..20, 0u64..6)
}

proptest! {
    /// Whatever happens in whatever order: no panic, nothing behind the last record, frames in order and
    /// begun before they are done, and no tick that is due at once again.
    #[test]
    fn any_order_of_happenings_keeps_the_record_sound(
        happenings in proptest::collection::vec(happening(), 0..80),
    ) {
        let mut keeper = Keeper::running();
        for (wait, what, number) in happenings {
            keeper.now += Duration::from_millis(wait);
            let host = ConnectionId(1 + number % 2);
            let scope = match number % 3 {
                0 => StopScope::Tree { grace: Duration::from_millis(number * 100) },
                1 => StopScope::Agent { grace: Duration::from_millis(number * 100) },
                _ => StopScope::Signal(2),
            };
            let unless_after = Some(keeper.core.spool().end()).filter(|_| number == 4);
            match what {
                0 => drop(keeper.greet(host, Some(start()))),
                1 => drop(keeper.step(Input::Closed(host))),
                2 | 3 => drop(keeper.output(&"line\n".repeat(usize::try_from(number).unwrap()))),
                4 => drop(keeper.output("part")),
                5 | 6 => {
                    let number = keeper.core.frames.numbers().accepted + number / 2;
                    keeper.call(host, &Call::WriteFrame(WriteChunk { number, total: 3, offset: 0, bytes: b"abc" }));
                }
                7 => {
                    let number = keeper.core.frames.numbers().begun + number;
                    keeper.call(host, &Call::CancelFrame { number });
                }
                8 | 9 => {
                    let bytes = keeper.stdin().len();
                    keeper.step(Input::StdinTook(bytes.min(usize::try_from(number).unwrap())));
                }
                10 => drop(keeper.step(Input::StdinBroken)),
                11 => drop(keeper.call(host, &Call::Stop(Stop { scope, unless_after }))),
                12 if keeper.core.agent().is_some() => {
                    keeper.step(Input::AgentExited(Exit::Code(0)));
                }
                13 | 14 => drop(keeper.looked(number / 2)),
                15 => drop(keeper.step(Input::OutputEnded)),
                16 => drop(keeper.step(Input::OutsideSignal(15))),
                17 => keeper.fill_disk(),
                18 => keeper.free_disk(),
                19 => drop(keeper.call(host, &Call::Acknowledge { position: keeper.core.spool().first() + number })),
                _ => {}
            }
            let effects = keeper.step(Input::Tick);
            let finished = effects.contains(&Effect::Finish);
            if let Some(tick) = keeper.core.next_tick()
                && !finished
            {
                prop_assert!(tick > keeper.now, "due at once again");
            }
        }
        let records = keeper.records();
        let exits: Vec<usize> = records
            .iter()
            .enumerate()
            .filter(|(_, record)| matches!(record, Record::Exited { .. }))
            .map(|(index, _)| index)
            .collect();
        prop_assert!(exits.is_empty() || exits == [records.len() - 1], "{:?}", records);
        let mut begun = 0;
        let mut done = 0;
        for record in &records {
            match record {
                Record::FrameBegun(number) => {
                    prop_assert!(*number > begun && begun == done, "{:?}", records);
                    begun = *number;
                }
                Record::FrameDone(number) => {
                    prop_assert_eq!(*number, begun);
                    done = *number;
                }
                Record::FrameCancelled(number) => prop_assert!(*number > begun),
                Record::Damaged => prop_assert!(false, "damage"),
                _ => {}
            }
        }
    }
}
