//! A program that makes its own model calls, and asks Mulligan what to do about one that failed.
//!
//!     MULLIGAN_TOKEN=… asker-rust http://127.0.0.1:8484

use std::time::Duration;

use tokio::time::{sleep, timeout};
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};

mod mulligan {
    tonic::include_proto!("mulligan.v1");
}
use mulligan::advice_client::AdviceClient;
use mulligan::{Action, DecideRequest, DecideResponse, Evidence, OutcomeRequest};

const MODEL: &str = "anthropic/claude-sonnet-4-5";
const OTHER: &str = "openai/gpt-5.2";

/// Stands for your own call of a model: the first one is full.
async fn call_model(model: &str) -> Result<String, Evidence> {
    if model == OTHER {
        return Ok("Hello".into());
    }
    let body = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    Err(Evidence {
        status: 529,
        body: body.into(),
        ..Default::default()
    })
}

/// Asks over one connection, which is made with the first question.
struct Advisor {
    client: AdviceClient<Channel>,
    bearer: String,
    /// Who has no answer after that goes on as without Mulligan.
    patience: Duration,
}

impl Advisor {
    fn request<T>(&self, message: T) -> Result<Request<T>, Status> {
        let mut request = Request::new(message);
        let bearer = self
            .bearer
            .parse()
            .map_err(|_| Status::invalid_argument("the token is no header"))?;
        request.metadata_mut().insert("authorization", bearer);
        Ok(request)
    }

    /// What to do, or nothing where Mulligan does not say.
    async fn decide(&mut self, asked: DecideRequest) -> Option<DecideResponse> {
        let request = self.request(asked).ok()?;
        match timeout(self.patience, self.client.decide(request)).await {
            Ok(Ok(answer)) => return Some(answer.into_inner()),
            Ok(Err(status)) => eprintln!("without Mulligan: {}", status.message()),
            Err(_) => eprintln!("without Mulligan: it does not answer"),
        }
        None
    }

    /// Closes the call; a model that has answered cools down no more.
    async fn outcome(&mut self, closed: OutcomeRequest) {
        if let Ok(request) = self.request(closed) {
            let _ = timeout(self.patience, self.client.outcome(request)).await;
        }
    }
}

async fn answer(advisor: &mut Advisor, call: &str) -> Result<String, String> {
    let mut model = MODEL.to_string();
    for attempt in 0.. {
        let failed = match call_model(&model).await {
            Ok(text) => {
                if attempt > 0 {
                    let ended = OutcomeRequest {
                        call: call.into(),
                        ok: true,
                        model: model.clone(),
                        ..Default::default()
                    };
                    advisor.outcome(ended).await;
                }
                return Ok(format!("{model}: {text}"));
            }
            Err(evidence) => evidence,
        };
        let error = format!("{model}: status {}", failed.status);
        let alternatives = vec![OTHER.into()];
        let asked = DecideRequest {
            call: call.into(),
            attempt,
            model: model.clone(),
            alternatives,
            auto_recover: Some(true),
            failure: Some(failed),
            ..Default::default()
        };
        let Some(reply) = advisor.decide(asked).await else {
            return Err(error);
        };
        if let Some(suggestion) = reply.recovery_suggestion {
            let labels: Vec<_> = suggestion.actions.into_iter().map(|button| button.label).collect();
            return Err(format!("{}: {}", suggestion.title, labels.join(" | ")));
        }
        let decision = reply.decision.unwrap_or_default();
        match decision.action() {
            Action::SwitchModel => model = decision.new_model,
            Action::Retry => {}
            _ => return Err(error),
        }
        println!("{error}; now {model}: {}", decision.reason);
        sleep(Duration::from_millis(decision.delay_ms.try_into().unwrap_or_default())).await;
    }
    unreachable!("attempts are counted without an end")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args()
        .nth(1)
        .ok_or("usage: MULLIGAN_TOKEN=… asker-rust URL")?;
    let client = AdviceClient::new(Endpoint::from_shared(url)?.connect_lazy());
    let bearer = format!("Bearer {}", std::env::var("MULLIGAN_TOKEN")?);
    let patience = std::env::var("MULLIGAN_TIMEOUT_MS").map_or(Ok(250), |ms| ms.parse())?;
    let patience = Duration::from_millis(patience);
    let call = format!("asker-{}", std::process::id());
    println!(
        "{}",
        answer(
            &mut Advisor {
                client,
                bearer,
                patience
            },
            &call
        )
        .await?
    );
    Ok(())
}
