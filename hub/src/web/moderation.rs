//! Moderation, in a browser and for programs: administrators show, hide, approve and delete records and ban their
//! submitters, many at once; what they do is noted first. Readers report records.
//!
//! In a browser an administrator gives the name `admin` and the token when it asks for them (Basic authentication), so no
//! page has a cookie or a script. A form that another site sends is refused before it comes here.

use std::str::FromStr;

use axum::extract::{Form, Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use serde_json::json;

use super::guard::{Failed, html_response, json_response};
use super::html::{Page, page};
use super::query::{Text, given};
use super::search::record_of;
use super::server::Peer;
use super::who::{administrator, client};
use super::{Hub, body};
use crate::error::Error;
use crate::network::block;
use crate::pages;
use crate::store::find::Before;
use crate::store::review::{Narrowed, Others, Which};
use crate::store::state::State as Sight;
use crate::store::submissions::{self, By};
use crate::store::{admin, review};

/// The most characters of a reason.
const REASON_MAX: usize = 500;

/// What an administrator can do with a record, or with who has sent it.
#[derive(Clone, Copy, Debug)]
enum Action {
    Hide,
    Show,
    Approve,
    Delete,
    Ban,
    Unban,
}

impl Action {
    const ALL: [Self; 6] =
        [Self::Hide, Self::Show, Self::Approve, Self::Delete, Self::Ban, Self::Unban];

    const fn word(self) -> &'static str {
        match self {
            Self::Hide => "hide",
            Self::Show => "show",
            Self::Approve => "approve",
            Self::Delete => "delete",
            Self::Ban => "ban",
            Self::Unban => "unban",
        }
    }
}

impl Action {
    /// What an administrator must know who has done this to the record `id`, beyond that it is done.
    async fn note(self, hub: &Hub, id: &str) -> Result<Option<String>, Error> {
        if !matches!(self, Self::Ban | Self::Unban) {
            return Ok(None);
        }
        let Others { count, waiting } = review::others(&hub.db, id).await?;
        Ok(Some(match self {
            Self::Ban => format!(
                "banned with its whole network ({NETWORK}); other records from it, which stay as they are: {count}"
            ),
            _ => format!(
                "later records count; {waiting} from it still wait: show those that are good"
            ),
        }))
    }
}

/// How wide the network of a submitter is.
const NETWORK: &str = "IPv4: 256 addresses; IPv6: 48 bits";

impl FromStr for Action {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self, Error> {
        let names = Self::ALL.map(Self::word).join(", ");
        let unknown = || Error::Request(format!("an action is one of {names}"));
        Self::ALL.into_iter().find(|it| it.word() == word).ok_or_else(unknown)
    }
}

/// What is to be done, and why.
#[derive(Debug)]
struct Wish {
    action: Action,
    reason: String,
}

impl Wish {
    /// # Errors
    /// There is no such action, or the reason is none.
    fn new(action: &str, reason: &str) -> Result<Self, Error> {
        let (action, reason) = (action.parse()?, reason.trim().to_owned());
        let has_length = (1..=REASON_MAX).contains(&reason.chars().count());
        if !has_length || reason.contains('\0') {
            let words = format!("a reason has 1 to {REASON_MAX} characters and no zero byte");
            return Err(Error::Request(words));
        }
        Ok(Self { action, reason })
    }

    /// Does it with the record `id`, in the name of the administrator `who`. Only what is there can be moderated; and
    /// nothing is done without its note.
    async fn perform(&self, hub: &Hub, who: &str, id: &str) -> Result<(), Error> {
        submissions::check(&hub.db, id, true).await?;
        let state = match self.action {
            Action::Ban | Action::Unban => {
                let nobody =
                    || Error::Request("this record came with the hub; nobody sent it".to_owned());
                let submitter = review::submitter_of(&hub.db, id).await?.ok_or_else(nobody)?;
                return self.perform_on(hub, who, &submitter, &format!("record {id}, ")).await;
            }
            Action::Delete => None,
            Action::Hide => Some(Sight::Hidden),
            Action::Show => Some(Sight::Public),
            Action::Approve => Some(Sight::Approved),
        };
        admin::note(&hub.db, who, self.action.word(), id, &self.reason).await?;
        match state {
            Some(state) => submissions::set_state(&hub.db, &hub.index, id, state).await,
            None => submissions::delete(&hub.db, &hub.index, id, By::Moderator).await,
        }
    }

    /// Bans `submitter` or lifts its ban. Its name is the subject of the note, which outlives its records; with it go
    /// `from` and how many there are.
    async fn perform_on(
        &self,
        hub: &Hub,
        who: &str,
        submitter: &str,
        from: &str,
    ) -> Result<(), Error> {
        let records = review::known(&hub.db, submitter).await?.ok_or(Error::NotFound)?;
        let is_ban = match self.action {
            Action::Ban => true,
            Action::Unban => false,
            _ => return Err(Error::Request("a submitter is banned or unbanned".to_owned())),
        };
        let s = if records == 1 { "" } else { "s" };
        let reason = format!("{} ({from}{records} record{s} of the submitter)", self.reason);
        admin::note(&hub.db, who, self.action.word(), submitter, &reason).await?;
        if is_ban {
            review::ban(&hub.db, submitter).await
        } else {
            review::unban(&hub.db, submitter).await
        }
    }
}

/// Which records are looked at.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Filter {
    #[serde(default, deserialize_with = "given")]
    state: Option<Which>,
    #[serde(default, deserialize_with = "given")]
    submitter: Option<String>,
    #[serde(default, deserialize_with = "given")]
    record: Option<Text>,
    #[serde(default, deserialize_with = "given")]
    before: Option<Before>,
}

pub(super) async fn list(
    State(hub): State<Hub>,
    Query(asked): Query<Filter>,
    headers: HeaderMap,
) -> Page {
    administrator(&hub, &headers).await?;
    let record = asked.record.map(|text| text.0).unwrap_or_default();
    let (narrowed, fault) = narrowed(&hub, asked.submitter.as_deref(), &record).await?;
    // One record is looked for among all.
    let every = if record.is_empty() { Which::Waiting } else { Which::Newest };
    let which = asked.state.unwrap_or(every);
    let before = asked.before.unwrap_or_default();
    let list = review::list(&hub.db, which, &narrowed, &before).await?;
    let open = review::open(&hub.db).await?;
    let is_whole = asked.submitter.is_none() && record.is_empty();
    let bans = match which {
        Which::Banned if is_whole => review::bans(&hub.db).await?,
        _ => Vec::new(),
    };
    let states = Which::ALL.map(|it| pages::Shown {
        is_chosen: it == which,
        word: it.word(),
        count: match it {
            Which::Waiting => Some(open.waiting),
            Which::Reported => Some(open.reported),
            _ => None,
        },
    });
    let shown = pages::Moderation {
        states,
        state: which.word(),
        submitter: asked.submitter,
        record,
        fault,
        list,
        bans,
        actions: Action::ALL.map(Action::word),
    };
    let mut response = page(shown);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// To what the list is narrowed, and what an administrator must know of the record that `record` names.
async fn narrowed(
    hub: &Hub,
    submitter: Option<&str>,
    record: &str,
) -> Result<(Narrowed, Option<String>), Error> {
    let submitter = submitter.unwrap_or_default().to_owned();
    if record.is_empty() {
        return Ok((Narrowed { submitter, record: String::new() }, None));
    }
    match record_of(hub, record).await {
        Ok(record) => Ok((Narrowed { submitter, record }, None)),
        // No record has this name, so that the list is empty.
        Err(error @ (Error::NotFound | Error::Gone)) => {
            let words = format!("{record}: {error}");
            Ok((Narrowed { submitter, record: record.to_owned() }, Some(words)))
        }
        Err(other) => Err(other),
    }
}

/// What a form of the page says.
#[derive(Default)]
struct Sent<'f> {
    action: &'f str,
    reason: &'f str,
    state: &'f str,
    /// The submitter to which the list was narrowed.
    submitter: &'f str,
    /// The records that were chosen.
    chosen: Vec<&'f str>,
    /// The records that the page has shown.
    shown: Vec<&'f str>,
    /// Whether it is to be done to all that were shown.
    is_for_all: bool,
    /// To how many, where that was asked.
    confirmed: Option<usize>,
    /// The submitter whose ban it is about, instead of records.
    banned: Option<&'f str>,
}

impl<'f> Sent<'f> {
    /// What `fields` are; each record has one of its own.
    fn of(fields: &'f [(String, String)]) -> Self {
        let mut sent = Self::default();
        for (name, value) in fields {
            match name.as_str() {
                "action" => sent.action = value,
                "reason" => sent.reason = value,
                "state" => sent.state = value,
                "submitter" => sent.submitter = value,
                "id" => sent.chosen.push(value),
                "shown" => sent.shown.push(value),
                "all" => sent.is_for_all = true,
                "confirmed" => sent.confirmed = value.parse().ok(),
                "banned" => sent.banned = Some(value),
                _ => {}
            }
        }
        sent
    }

    fn which(&self) -> Which {
        self.state.parse().unwrap_or(Which::Waiting)
    }

    /// The question whether all that were shown are to be deleted.
    fn question(&self, reason: &str) -> String {
        let (state, list) = (self.which().word(), self.list());
        let (ids, submitter) = (&self.shown, self.submitter);
        pages::DeleteMany { ids, reason, state, submitter, list: &list }.into()
    }

    /// The list that it was sent from.
    fn list(&self) -> String {
        let is_name =
            !self.submitter.is_empty() && self.submitter.chars().all(|c| c.is_ascii_alphanumeric());
        let of = if is_name { format!("&submitter={}", self.submitter) } else { String::new() };
        format!("/moderation?state={}{of}", self.which().word())
    }
}

/// Does what a form says.
pub(super) async fn act(
    State(hub): State<Hub>,
    headers: HeaderMap,
    Form(fields): Form<Vec<(String, String)>>,
) -> Page {
    let who = administrator(&hub, &headers).await?;
    let sent = Sent::of(&fields);
    let wish = Wish::new(sent.action, sent.reason)?;
    if let Some(submitter) = sent.banned {
        wish.perform_on(&hub, &who, submitter, "").await?;
        return Ok(Redirect::to(&sent.list()).into_response());
    }
    let ids = if sent.is_for_all { &sent.shown } else { &sent.chosen };
    if ids.is_empty() {
        return Err(Error::Request("choose records first".to_owned()).into());
    }
    // What nobody has chosen one by one, and nothing brings back.
    let is_asked = sent.is_for_all && matches!(wish.action, Action::Delete);
    if is_asked && sent.confirmed != Some(ids.len()) {
        return Ok(page(sent.question(&wish.reason)));
    }
    for id in ids {
        wish.perform(&hub, &who, id).await?;
    }
    Ok(Redirect::to(&sent.list()).into_response())
}

/// What a program says: the administrator, and what is wished.
async fn wished(hub: &Hub, request: Request) -> Result<(String, Wish), Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Body {
        action: Option<String>,
        reason: Option<String>,
    }
    let (parts, body) = request.into_parts();
    let who = administrator(hub, &parts.headers).await?;
    let client = client(hub, &parts.headers, parts.extensions.get::<Peer>());
    let held = body::json_bytes(hub, block(client), &parts.headers, body).await?;
    let unread = |what: &str| {
        Error::Request(format!("{what}send {{\"action\": \"...\", \"reason\": \"...\"}}"))
    };
    let sent: Body = serde_json::from_slice(&held.bytes).map_err(|_| unread(""))?;
    let action = sent.action.ok_or_else(|| unread("the action is missing: "))?;
    let reason = sent.reason.ok_or_else(|| unread("the reason is missing: "))?;
    Ok((who, Wish::new(&action, &reason)?))
}

/// Does what a program says with a record or its submitter.
pub(super) async fn moderate(
    State(hub): State<Hub>,
    Path(id): Path<String>,
    request: Request,
) -> Page {
    let (who, wish) = wished(&hub, request).await?;
    wish.perform(&hub, &who, &id).await?;
    let mut done = json!({"id": id, "action": wish.action.word()});
    if let Some(note) = wish.action.note(&hub, &id).await? {
        done["note"] = note.into();
    }
    Ok(json_response(&done))
}

/// Does what a program says with a submitter, also with one that has no record any more.
pub(super) async fn moderate_submitter(
    State(hub): State<Hub>,
    Path(submitter): Path<String>,
    request: Request,
) -> Page {
    let (who, wish) = wished(&hub, request).await?;
    wish.perform_on(&hub, &who, &submitter, "").await?;
    Ok(json_response(&json!({"submitter": submitter, "action": wish.action.word()})))
}

/// The bans.
pub(super) async fn bans(State(hub): State<Hub>, headers: HeaderMap) -> Page {
    administrator(&hub, &headers).await?;
    let bans = review::bans(&hub.db).await?;
    Ok(json_response(&json!({"bans": bans})))
}

/// What administrators did, the latest first.
pub(super) async fn audit(State(hub): State<Hub>, headers: HeaderMap) -> Page {
    administrator(&hub, &headers).await?;
    let deeds = admin::audit(&hub.db).await?;
    Ok(json_response(&json!({"deeds": deeds})))
}

/// Notes that a reader finds a record wrong: of one client once a day, and so many records.
pub(super) async fn report(
    State(hub): State<Hub>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, Failed> {
    let (parts, _) = request.into_parts();
    let client = client(&hub, &parts.headers, parts.extensions.get::<Peer>());
    hub.attempts.count(client)?;
    submissions::check(&hub.db, &id, false).await?;
    if hub.reports.count(client, &id)? {
        review::report(&hub.db, &id).await?;
    }
    let words = "Thank you. An administrator will look at this record.";
    let record = format!("/r/{id}");
    let back = Some((record.as_str(), "Back to the record"));
    Ok(html_response(pages::message("Reported", words, back)))
}
