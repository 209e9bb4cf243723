//! Offers: list, resume, dismiss.

use std::collections::HashSet;

use axum::Json;
use axum::extract::State;
use futures_util::{StreamExt, stream};
use holdfast_core::ids::ChatId;
use holdfast_core::input::{Anyway, Choice, Command, Reply, Session};
use holdfast_core::limits::MESSAGE_BYTES_MAX;
use holdfast_core::refusal::{Code, Refusal};
use holdfast_core::time::Micros;
use holdfast_store::query::QUERY_ROWS_MAX;
use holdfast_store::{FailureRow, What};
use serde_json::Value;

use crate::app::App;
use crate::events::Cursor;
use crate::extract::fields::Most;
use crate::extract::{Call, Fields, MessageBody, PlainBody};
use crate::limits::OFFERS_AT_ONCE_MAX;
use crate::openapi::{Request, request};
use crate::port::Caller;
use crate::routes::messages::{CHOICES, Doubt};
use crate::routes::recap;
use crate::routes::{Answer, odd_reply, unread};
use crate::wire::ids;
use crate::wire::offer::{Failed, Offer, Offers, OneResult, Results};
use crate::wire::time;
use serde::Serialize;
use utoipa::ToSchema;

/// Chats that are asked at the same time; the host bounds how many agents start.
const ASKED_AT_ONCE: usize = 8;

/// All offers that are shown, and all failures.
#[utoipa::path(
    get,
    path = "/offers",
    responses((status = OK, description = "Offers and failures.", body = Offers)),
)]
pub(super) async fn list(State(app): State<App>) -> Answer<Json<Offers>> {
    let store = &app.store;
    // Read first: an offer of a later change may be listed, but none before it is missing.
    let change = store.change_bounds().await.map_err(unread)?.newest;
    let offers = store.offers().await.map_err(unread)?.into_iter().filter_map(Offer::shown);
    let failures = store.failures().await.map_err(unread)?.into_iter().map(Failed::of);
    let as_of = Cursor { incarnation: store.incarnation(), change }.to_string();
    Ok(Json(Offers { as_of, offers: offers.collect(), failures: failures.collect() }))
}

/// All of them.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "declared; read by hand")]
enum All {
    /// All that need nothing more from a person.
    All,
}

/// Which offers are meant.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "declared; read by hand")]
enum ToResume {
    /// All.
    All(All),
    /// These.
    Chats(Vec<OneToResume>),
}

/// A chat, or an object with it.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "declared; read by hand")]
enum OneToResume {
    /// A chat.
    Id(ids::ChatId),
    /// How one is resumed.
    Object(ResumeOne),
}

/// Which offers are meant.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "declared; read by hand")]
enum ToDismiss {
    /// All.
    All(All),
    /// These.
    Chats(Vec<OneToDismiss>),
}

/// A chat, or an object with it.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "declared; read by hand")]
enum OneToDismiss {
    /// A chat.
    Id(ids::ChatId),
    /// One offer.
    Object(DismissOne),
}

request! {
    /// Offers to carry on with.
    pub(super) struct Resume {
        /// Which.
        chats: ToResume,
        /// The `as_of` of the list that the caller saw: what changed since is superseded.
        as_of: Option<String>,
    }

    /// How one chat is resumed.
    struct ResumeOne {
        /// The chat.
        #[schema(value_type = ids::ChatId)]
        chat: ChatId,
        /// The `recorded_at` of the offer that the caller saw.
        recorded_at: Option<String>,
        /// What is true of a message in doubt.
        choice: Option<Doubt>,
        /// With a new session of the agent.
        fresh: Option<bool>,
        /// What a new session is told; the proposed recap where nothing is said.
        recap: Option<String>,
        /// Also where processes of the last attempt may still live.
        anyway: Option<bool>,
    }

    /// Offers to let go.
    pub(super) struct Dismiss {
        /// Which.
        chats: ToDismiss,
        /// The `as_of` of the list that the caller saw: what changed since is superseded.
        as_of: Option<String>,
    }

    /// One offer.
    struct DismissOne {
        /// The chat.
        #[schema(value_type = ids::ChatId)]
        chat: ChatId,
        /// The `recorded_at` of the offer that the caller saw.
        recorded_at: Option<String>,
    }
}

/// Carries on with some offers, or with all.
#[utoipa::path(
    post,
    path = "/offers/resume",
    request_body = Resume,
    responses((status = OK, description = "What became of each chat.", body = Results)),
    extensions(("x-refusals" = json!([Code::InvalidCursor]))),
)]
pub(super) async fn resume(
    State(app): State<App>,
    mut call: Call<MessageBody>,
) -> Answer<Json<Results>> {
    let fields = call.fields::<Resume>()?;
    let known = ResumeOne::FIELDS;
    let (chosen, mut results) = chosen(&app, &call.caller, fields, known).await?;
    let failures = app.store.failures().await.map_err(unread)?;
    let ask = |chosen: Chosen| resume_one(&app, &call.caller, &failures, chosen);
    results.extend(stream::iter(chosen).map(ask).buffered(ASKED_AT_ONCE).collect::<Vec<_>>().await);
    Ok(Json(Results { results }))
}

async fn resume_one(
    app: &App,
    caller: &Caller,
    failures: &[FailureRow],
    chosen: Chosen,
) -> OneResult {
    let chat = chosen.chat;
    let caller = caller.for_chat(chat);
    match app.host.replayed(caller.clone()).await {
        Ok(None) => {}
        // A failure of the resume that was accepted is not its first answer.
        Ok(Some(first)) => return OneResult::of(chat, Ok(first)),
        Err(refusal) => return OneResult::of(chat, Err(refusal)),
    }
    let failed = failures.iter().find(|row| row.chat == chat);
    if let (Wish::OneOfAll, Some(failure)) = (&chosen.wish, failed) {
        let text = format!("It failed before, and all is not asked to try again: {}", failure.text);
        return OneResult::refused(chat, &failure.code, &text);
    }
    let (choice, with, anyway) = match chosen.wish {
        Wish::OneOfAll => (None, With::Recorded, Anyway::No),
        Wish::Named { choice, with, anyway } => (choice, with, anyway),
    };
    let session = match with {
        With::Recorded => Session::Recorded,
        With::Recap(recap) => Session::Fresh { recap },
        With::ProposedRecap => match recap::proposed(app, chat).await {
            Ok(recap) => Session::Fresh { recap },
            Err(fault) => return OneResult::of(chat, Err(recap::unread(&fault))),
        },
    };
    let recorded_at = chosen.recorded_at;
    let command = Command::Resume { recorded_at, choice, session, anyway };
    OneResult::of(chat, app.host.submit(chat, command, caller).await)
}

/// Lets some offers go, or all.
#[utoipa::path(
    post,
    path = "/offers/dismiss",
    request_body = Dismiss,
    responses((status = OK, description = "What became of each chat.", body = Results)),
    extensions(("x-refusals" = json!([Code::InvalidCursor]))),
)]
pub(super) async fn dismiss(
    State(app): State<App>,
    mut call: Call<PlainBody>,
) -> Answer<Json<Results>> {
    let fields = call.fields::<Dismiss>()?;
    let known = DismissOne::FIELDS;
    let (chosen, mut results) = chosen(&app, &call.caller, fields, known).await?;
    let ask = async |chosen: Chosen| {
        let command = Command::Dismiss { recorded_at: chosen.recorded_at };
        let caller = call.caller.for_chat(chosen.chat);
        OneResult::of(chosen.chat, app.host.submit(chosen.chat, command, caller).await)
    };
    results.extend(stream::iter(chosen).map(ask).buffered(ASKED_AT_ONCE).collect::<Vec<_>>().await);
    Ok(Json(Results { results }))
}

/// One offer that the caller means.
struct Chosen {
    chat: ChatId,
    recorded_at: Option<Micros>,
    wish: Wish,
}

/// How it is to be resumed.
enum Wish {
    /// As one of all: only what needs nothing more from a person.
    OneOfAll,
    /// As the person says.
    Named { choice: Option<Choice>, with: With, anyway: Anyway },
}

/// With what session.
enum With {
    /// The recorded one.
    Recorded,
    /// A new one, which is told this.
    Recap(String),
    /// A new one, which is told what would be proposed.
    ProposedRecap,
}

/// The offers that a body names, and at once the results of those that are no longer what the
/// caller saw. The key of the request is spent here: it has one body, and means the same offers when
/// it comes again; each chat then answers its own repeat.
async fn chosen(
    app: &App,
    caller: &Caller,
    mut fields: Fields,
    known: &[&str],
) -> Answer<(Vec<Chosen>, Vec<OneResult>)> {
    let as_of = fields.raw_text("as_of", Most::Chars(200))?;
    match fields.value("chats") {
        None => Err(fields.missing("chats").into()),
        Some(Value::String(all)) if all == "all" => {
            let meant = match app.host.replayed(caller.clone()).await? {
                Some(first) => first,
                None => {
                    let all = all_of(app, as_of.as_deref()).await?;
                    app.host.remember(None, all, caller.clone()).await?
                }
            };
            let Reply::Chosen { offers, superseded } = meant else { return Err(odd_reply(&meant)) };
            let chosen = offers.into_iter().map(|(chat, recorded_at)| Chosen {
                chat,
                recorded_at: Some(recorded_at),
                wish: Wish::OneOfAll,
            });
            Ok((chosen.collect(), superseded.into_iter().map(OneResult::superseded).collect()))
        }
        Some(Value::Array(list)) if list.len() <= OFFERS_AT_ONCE_MAX => {
            let named = list.into_iter().enumerate().map(|(n, value)| named(n, value, known));
            let named = named.collect::<Result<_, _>>()?;
            app.host.remember(None, Reply::Done, caller.clone()).await?;
            Ok((named, Vec::new()))
        }
        Some(_) => {
            let wanted = format!("\"all\" or a list of at most {OFFERS_AT_ONCE_MAX} chats");
            Err(fields.invalid("chats", &wanted).limit(OFFERS_AT_ONCE_MAX).into())
        }
    }
}

/// All offers; where the caller says what it had seen, those that changed since are superseded.
async fn all_of(app: &App, as_of: Option<&str>) -> Answer<Reply> {
    let changed = match as_of {
        None => HashSet::new(),
        Some(text) => changed_since(app, text).await?,
    };
    let rows = app.store.offers().await.map_err(unread)?.into_iter().filter(|row| row.shown);
    let (gone, here): (Vec<_>, Vec<_>) = rows.partition(|row| changed.contains(&row.chat));
    Ok(Reply::Chosen {
        offers: here.into_iter().map(|row| (row.chat, row.recorded_at)).collect(),
        superseded: gone.into_iter().map(|row| row.chat).collect(),
    })
}

async fn changed_since(app: &App, as_of: &str) -> Answer<HashSet<ChatId>> {
    let store = &app.store;
    let bounds = store.change_bounds().await.map_err(unread)?;
    let cursor = as_of.parse::<Cursor>().ok();
    let seen = cursor.filter(|cursor| cursor.is_whole(store.incarnation(), bounds));
    let mut after = seen.map(|cursor| cursor.change).ok_or_else(|| {
        let text =
            "The as_of is not one that this host gave, or is too old. List the offers again.";
        Refusal::new(Code::InvalidCursor, text).field("as_of")
    })?;
    let mut changed = HashSet::new();
    while after < bounds.newest {
        let changes = store.changes(after, QUERY_ROWS_MAX).await.map_err(unread)?;
        let Some(last) = changes.last() else { break };
        after = last.n;
        let offers = changes.iter().filter(|change| change.what == What::Offer);
        changed.extend(offers.filter_map(|change| change.chat));
    }
    Ok(changed)
}

/// One entry of the list: an id, or an object.
fn named(n: usize, value: Value, known: &[&str]) -> Result<Chosen, Refusal> {
    let object = match value {
        Value::Object(object) => object,
        id => [("chat".to_owned(), id)].into_iter().collect(),
    };
    let mut fields = Fields::within(object, known, format!("chats[{n}]."))?;
    let chat = fields.id("chat")?.ok_or_else(|| fields.missing("chat"))?;
    let recorded_at = match fields.raw_text("recorded_at", Most::Chars(100))? {
        None => None,
        Some(text) => {
            let at = time::parse(&text);
            Some(at.ok_or_else(|| fields.invalid("recorded_at", "a time as offers show it"))?)
        }
    };
    let choice = fields.word("choice", &CHOICES)?;
    let recap = fields.text("recap", Most::Bytes(MESSAGE_BYTES_MAX))?;
    let with = match (fields.flag("fresh")?, recap) {
        (Some(true), Some(recap)) => With::Recap(recap),
        (Some(true), None) => With::ProposedRecap,
        (Some(false) | None, None) => With::Recorded,
        (Some(false) | None, Some(_)) => {
            return Err(fields.invalid("recap", "given only with fresh: true"));
        }
    };
    let anyway = match fields.flag("anyway")? {
        Some(true) => Anyway::Yes,
        Some(false) | None => Anyway::No,
    };
    Ok(Chosen { chat, recorded_at, wish: Wish::Named { choice, with, anyway } })
}
