//! Whatever comes, in whatever order, from whoever: the invariants hold, nothing panics, and where
//! people and agents mean well the queue drains.

use proptest::prelude::*;

use super::*;
use crate::fork::TurnPlace;
use crate::head::{Delivery, Life, Phase};
use crate::ids::TurnId;
use crate::input::Anyway;
use crate::provider::{Proof, TaskEnd};

/// One input, by number: what, and two numbers that say which.
#[derive(Clone, Copy, Debug)]
struct Roll {
    what: u8,
    a: u8,
    b: u8,
    /// Whether it comes from an attempt that is not, or no longer, the chat's.
    stale: bool,
}

fn roll() -> impl Strategy<Value = Roll> {
    (0..64_u8, any::<u8>(), any::<u8>(), prop::bool::weighted(0.05))
        .prop_map(|(what, a, b, stale)| Roll { what, a, b, stale })
}

fn pick<T: Copy>(from: &[T], n: u8) -> T {
    from[usize::from(n) % from.len()]
}

const CHOICES: [Choice; 3] = [Choice::Arrived, Choice::SendAgain, Choice::Discard];
const ENDS: [TurnEnd; 4] =
    [TurnEnd::Completed, TurnEnd::Interrupted, TurnEnd::Failed, TurnEnd::Lost];
const FAULTS: [StartFault; 3] =
    [StartFault::LoginNeeded, StartFault::SessionNotFound, StartFault::AgentMissing];

fn command(scene: &mut Scene, Roll { what, a, b, .. }: Roll) -> Command {
    let waiting: Vec<MessageId> = scene.chat.aside.queue.iter().map(|q| q.message).collect();
    let stranded: Vec<MessageId> = scene.chat.head.stranded.iter().map(|s| s.message).collect();
    let one_of = |ids: &[MessageId]| if ids.is_empty() { id("none") } else { pick(ids, a) };
    let choice = if b < 64 { None } else { Some(pick(&CHOICES, b)) };
    match what {
        0..=7 => {
            let authors = [Author::Person, Author::Channel, Author::App, Author::Schedule];
            let sends = [Send::Queue, Send::Queue, Send::Steer, Send::Interrupt];
            let there: Vec<_> = scene.chat.aside.attachments.keys().copied().collect();
            let attachments: Vec<_> = there.into_iter().filter(|_| a % 3 == 0).take(2).collect();
            let name = format!("m{}", scene.inputs);
            scene.sending(&name, (pick(&authors, a), pick(&sends, b)), attachments)
        }
        8 => Command::EditQueued { message: one_of(&waiting), text: "edited".to_owned() },
        9 => Command::WithdrawQueued { message: one_of(&waiting) },
        10 => {
            let mut order = waiting;
            if !order.is_empty() {
                let by = usize::from(a) % order.len();
                order.rotate_left(by);
            }
            Command::OrderQueue { order }
        }
        11 => Command::SendNow { message: one_of(&waiting) },
        12 => Command::PauseQueue,
        13 | 14 => Command::ResumeQueue,
        15 | 16 => Command::Resolve { message: one_of(&stranded), choice: pick(&CHOICES, b) },
        17 if b < 128 => {
            let turn = TurnId(u32::from(a % 3) + 1);
            let place = TurnPlace { turn, at: 1, mark: format!("u{a}"), messages: 0 };
            let message = id(&format!("m{}", scene.inputs));
            let message = (b < 64).then(|| (message, "back".to_owned(), Author::Person));
            Command::Rewind { at: 1, turn: Some(place), message }
        }
        17 => Command::Interrupt,
        18 => Command::StopAgent,
        19 => Command::StopTask { task: scene.task_id(u32::from(a % 4)) },
        20 | 21 => scene.answer(u32::from(a % 4)),
        22 if a < 64 => CLOSE,
        22 if a < 72 => Command::Delete,
        22 | 23 => Command::Reopen,
        24..=27 => {
            let anyway = if a < 128 { Anyway::Yes } else { Anyway::No };
            let session = match a % 4 {
                0 => Session::Fresh { recap: format!("recap {}", a % 3) },
                _ => Session::Recorded,
            };
            Command::Resume { recorded_at: None, choice, session, anyway }
        }
        28 if b < 128 => Command::Dismiss { recorded_at: None },
        28 if b < 224 => Command::Attach(attachment::file(scene.inputs, 1 + u64::from(a))),
        28 => {
            let there: Vec<_> = scene.chat.aside.attachments.keys().copied().collect();
            let attachment = attachment::file(u128::MAX, 1).id;
            let attachment = if there.is_empty() { attachment } else { pick(&there, a) };
            Command::Detach { attachment }
        }
        _ => {
            let whys = [
                StopWhy::Offered(Cause::Quit),
                StopWhy::Offered(Cause::Update),
                StopWhy::Offered(Cause::IdleStop),
                StopWhy::Idle,
            ];
            Command::Stop { why: pick(&whys, a) }
        }
    }
}

fn word(scene: &Scene, Roll { what, a, b, .. }: Roll) -> ProviderEvent {
    let n = u32::from(a % 4);
    let forks = pick(&[Forks::AtTheEnd, Forks::AtTurns, Forks::AtTurnsInMemory], b);
    let mark = (b % 2 == 0).then(|| format!("u{a}"));
    let frame = if b < 200 { scene.frame() } else { FrameNo(u64::from(b) % 7) };
    match what {
        32..=35 => ProviderEvent::Ready {
            handle: Handle {
                root: if a < 240 { "root" } else { "fork" }.to_owned(),
                leaf: "leaf".to_owned(),
            },
            capabilities: Capabilities {
                load: b < 200,
                own_turns_end: b % 2 == 0,
                steer: b % 3 > 0,
                forks,
                ..ABLE
            },
            model: None,
            mode: None,
        },
        36 => ProviderEvent::StartFailed { fault: pick(&FAULTS, a), text: String::new() },
        37 => {
            let last = scene.chat.head.stranded.last().map(|s| s.digest.clone());
            let messages = scene.chat.head.session_messages + u64::from(a % 3);
            ProviderEvent::ReplayEnded { messages, last: last.filter(|_| b < 128) }
        }
        38..=41 => ProviderEvent::MessageTaken { frame },
        42 => {
            let proof = pick(&[Proof::NotTaken, Proof::Nothing, Proof::TakenBack], a);
            ProviderEvent::MessageFailed { frame, proof, text: String::new() }
        }
        43 => ProviderEvent::Stirred,
        44..=47 => ProviderEvent::TurnEnded { how: pick(&ENDS, a), usage: None, text: None, mark },
        48 => ProviderEvent::PromptOpened {
            prompt: n,
            item: u32::from(b),
            asked: asks(PromptKind::Approval, "run"),
        },
        49 if b < 128 => ProviderEvent::PromptGone { prompt: n },
        49 => ProviderEvent::AnswerTaken { prompt: n },
        50 => {
            let kind = pick(&[TaskKind::Agent, TaskKind::Command], b);
            let foreground = b < 64;
            ProviderEvent::TaskStarted { task: n, kind, label: "t".to_owned(), foreground }
        }
        51 => ProviderEvent::TaskEnded { task: n, how: TaskEnd::Completed },
        _ => ProviderEvent::Titled { title: "t".to_owned() },
    }
}

fn keeper_word(scene: &Scene, Roll { what, a, b, .. }: Roll) -> KeeperEvent {
    let frame = scene.outbox().first().copied().unwrap_or(FrameNo(u64::from(a) % 5));
    match what {
        53 => KeeperEvent::Born { pid: 7 },
        54 => KeeperEvent::FrameBegun(frame),
        55 | 56 => KeeperEvent::FrameDone(frame),
        57 if a < 64 => KeeperEvent::FrameCancelled(frame),
        57 if a < 128 => KeeperEvent::StopRefused,
        57 if a < 192 => KeeperEvent::Silent,
        57 => KeeperEvent::Answers,
        58 if a < 64 => KeeperEvent::Signalled { cause: Cause::HostLost },
        58 if a < 128 => {
            KeeperEvent::SpawnFailed { fault: StartFault::AgentMissing, text: String::new() }
        }
        58 if a < 160 => KeeperEvent::CutOff,
        58 if a < 192 => KeeperEvent::LineSkipped { text: "odd".to_owned() },
        58 => KeeperEvent::Leftovers { named: Vec::new(), count: u32::from(b % 3) },
        _ => {
            let deaths = [
                Death::Exited { code: Some(0), signal: None },
                Death::KeeperLost,
                Death::HostLost,
                Death::NeverBorn,
            ];
            KeeperEvent::Dead {
                death: pick(&deaths, a),
                boot: if b < 200 { Boot::Same } else { Boot::Other },
                survivors: if b % 16 == 0 { vec![9] } else { Vec::new() },
                stderr: String::new(),
            }
        }
    }
}

fn play(scene: &mut Scene, roll: Roll) {
    let attempt =
        if roll.stale { AttemptId::new(Uuid::from_u128(u128::MAX)) } else { scene.attempt() };
    let input = match roll.what {
        0..=31 => Input::Command(command(scene, roll)),
        32..=52 => Input::Provider { attempt, event: word(scene, roll) },
        53..=61 => Input::Keeper { attempt, event: keeper_word(scene, roll) },
        _ => Input::Tick {
            last_word: Awake(scene.awake.0 - u64::from(roll.a) * 100),
            release_after: Some(20_000),
            ceiling_after: roll.stale.then_some(30_000),
        },
    };
    // What is refused changed nothing: that is checked there.
    let _ = scene.input(input);
    if roll.stale {
        let told = matches!(roll.what, 32..=61);
        let started = scene.last.iter().any(|f| matches!(f, Fact::AttemptStarting { .. }));
        assert!(!told || scene.last.is_empty() || started, "a stranger was heard");
    }
}

/// What a person and an agent who mean well do next; false when there is nothing left to do.
fn cooperate(scene: &mut Scene) -> bool {
    let head = &scene.chat.head;
    if let Some(attempt) = &head.attempt {
        if attempt.stop.is_some() {
            scene.dies();
        } else if attempt.phase == Phase::Starting {
            scene.born().ready();
        } else if head.at_agent().any(|o| o.state == Delivery::Handed) {
            scene.written().taken();
        } else if head.turn.is_some() {
            scene.ends(TurnEnd::Completed);
        } else if !scene.queue().is_empty() {
            return let_run(scene);
        } else {
            return false;
        }
        return true;
    }
    (!scene.queue().is_empty() || scene.has_offer()) && let_run(scene)
}

/// What a person does about what holds the queue.
fn let_run(scene: &mut Scene) -> bool {
    let head = &scene.chat.head;
    if head.life == Life::Closed {
        scene.does(Command::Reopen);
    } else if head.offer.is_some() || head.failure.is_some() {
        let anyway = Anyway::Yes;
        let choice = Some(Choice::SendAgain);
        scene.does(Command::Resume {
            recorded_at: None,
            choice,
            session: Session::Recorded,
            anyway,
        });
        let refused = matches!(scene.reply, Some(Reply::NotResumed { .. }));
        assert!(!refused, "{:?}", scene.reply);
    } else if let Some(stranded) = head.stranded.first() {
        let message = stranded.message;
        scene.does(Command::Resolve { message, choice: Choice::Discard });
    } else if head.paused.is_some() {
        scene.does(Command::ResumeQueue);
    } else if head.recap.is_some() && scene.queue().len() == 1 {
        // A recap alone waits for whatever comes next, and goes before it.
        let name = format!("m{}", scene.inputs);
        scene.send(&name);
    } else {
        panic!("it waits, and nobody knows what for: {:?}", scene.chat);
    }
    true
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_comes_the_invariants_hold_and_the_queue_drains(
        rolls in prop::collection::vec(roll(), 0..80),
    ) {
        let mut scene = Scene::open();
        for roll in rolls {
            play(&mut scene, roll);
        }
        if scene.chat.head.life == Life::Deleted {
            return Ok(());
        }
        let mut steps = 0;
        while cooperate(&mut scene) {
            steps += 1;
            prop_assert!(steps < 2000, "it never comes to rest: {:?}", scene.chat);
        }
        prop_assert_eq!(scene.queue(), Vec::<String>::new());
        prop_assert_eq!(scene.at_agent(), None);
    }
}
