package failure

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// toldAs is the evidence of an answer or, if status is 0, of a message alone.
func toldAs(status int, text string) Evidence {
	if status == 0 {
		return Evidence{Err: errors.New(text), At: testNow}
	}
	return Evidence{Status: status, Body: []byte(text), At: testNow}
}

// TestNeighbours are errors as providers, gateways, servers and client libraries are known to word
// them, with their kinds. None is in the catalogue or in the sets of reported errors; the families
// of rules exist for them.
func TestNeighbours(t *testing.T) {
	type answer struct {
		status int // 0: there is only text
		text   string
	}
	for kind, answers := range map[Kind][]answer{
		KindTimeout: {
			{0, "An error occurred (ModelTimeoutException) when calling X: The request took too long"},
			{0, `Read timeout on endpoint URL: "https://bedrock"`},
			{0, "[WinError 10060] 由于连接方在一段时间后没有正确答复或连接的主机没有反应，连接尝试失败。"},
			{0, "httpx.ReadTimeout"},
			{0, "HTTPSConnectionPool(host='api.openai.com', port=443): Read timed out. (read timeout=600)"},
			{0, "UND_ERR_HEADERS_TIMEOUT: Headers Timeout Error"},
			{0, "BodyTimeoutError: Body Timeout Error"},
			{0, "stream error: stream disconnected before completion: idle timeout waiting for SSE; retrying 1/5"},
			{0, "请求超时"},
			{0, "4 DEADLINE_EXCEEDED: Deadline exceeded"},
			{0, "java.net.SocketTimeoutException: Read timed out"},
			{0, "System.Threading.Tasks.TaskCanceledException: The request was canceled due to the configured HttpClient.Timeout of 100 seconds elapsing."},
			{0, "AxiosError: timeout of 60000ms exceeded"},
			{0, "API Error: Request was aborted."},
			{0, "litellm.Timeout: AnthropicException - litellm.Timeout: Connection timed out after 600.0 seconds."},
			{0, "LLM request timed out."},
		},
		KindUnreachable: {
			{0, `Could not connect to the endpoint URL: "https://bedrock-runtime.us-east-1.amazonaws.com/"`},
			{0, "dial tcp 127.0.0.1:11434: connectex: No connection could be made because the target machine actively refused it."},
			{0, "[WinError 10054] An existing connection was forcibly closed by the remote host"},
			{0, "httpx.ConnectError: All connection attempts failed"},
			{0, "httpx.ConnectError: [Errno -2] Name or service not known"},
			{0, "[Errno 8] nodename nor servname provided, or not known"},
			{0, "ConnectionError: ('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))"},
			{0, "HTTPSConnectionPool(host='api.openai.com', port=443): Max retries exceeded with url: /v1/chat/completions (Caused by NewConnectionError('<urllib3.connection.HTTPSConnection object at 0x7f>: Failed to establish a new connection: [Errno 111] Connection refused'))"},
			{0, "error sending request for url (https://chatgpt.com/backend-api/codex/responses)"},
			{0, "net::ERR_CONNECTION_REFUSED"},
			{0, "net::ERR_NAME_NOT_RESOLVED"},
			{0, "curl: (52) Empty reply from server"},
			{0, "tcp connect error: Connection refused (os error 111)"},
			{0, "The network connection was lost."},
			{0, "AI_APICallError: Cannot connect to API: connect ECONNREFUSED 127.0.0.1:1234"},
			{0, "stream disconnected before completion: error sending request for url (https://x)"},
			{0, "[GoogleGenerativeAI Error]: Error fetching from https://x: fetch failed"},
			{0, "aiohttp.client_exceptions.ServerDisconnectedError: Server disconnected"},
			{0, "httpcore.RemoteProtocolError: Server disconnected without sending a response."},
			{0, "java.net.ConnectException: Connection refused"},
			{0, "java.net.UnknownHostException: api.openai.com"},
			{0, "System.Net.Http.HttpRequestException: No such host is known. (api.openai.com:443)"},
			{0, "AxiosError: Network Error"},
			{0, "litellm.APIConnectionError: APIConnectionError: OpenAIException - Server disconnected without sending a response."},
			{0, "could not connect to ollama app, is it running?"},
			{0, `Error: Post "http://127.0.0.1:11434/api/chat": EOF`},
			{0, "ECONNRESET: aborted"},
			{403, "<html><title>Attention Required! | Cloudflare</title>Sorry, you have been blocked</html>"},
		},
		KindTLS: {
			{0, "HTTPSConnectionPool(host='api.openai.com', port=443): Max retries exceeded with url: /v1 (Caused by SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed')))"},
			{0, "net::ERR_CERT_AUTHORITY_INVALID"},
			{0, "Error: unable to verify the first certificate; code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'"},
			{0, "unable to get local issuer certificate"},
			{0, "SELF_SIGNED_CERT_IN_CHAIN"},
			{0, "self signed certificate in certificate chain"},
			{0, "ERR_TLS_CERT_ALTNAME_INVALID"},
			{0, "DEPTH_ZERO_SELF_SIGNED_CERT"},
		},
		KindAuth: {
			{0, "An error occurred (AccessDeniedException) when calling the InvokeModel operation: User: arn:aws:iam::1:user/x is not authorized to perform: bedrock:InvokeModel on resource"},
			{0, "An error occurred (UnrecognizedClientException) when calling the InvokeModel operation: The security token included in the request is invalid."},
			{0, "An error occurred (ExpiredTokenException) when calling the InvokeModel operation: The security token included in the request is expired"},
			{0, `Unable to locate credentials. You can configure credentials by running "aws login".`},
			{0, "CredentialsProviderError: Could not load credentials from any providers"},
			{404, `{"message":"Model use case details have not been submitted for this account. Fill out the Anthropic use case details form before using the model."}`},
			{400, `{"message":"Operation not allowed"}`},
			{0, `unexpected status 401 Unauthorized: {"error":{"message":"x"}}`},
			{0, "google.auth.exceptions.DefaultCredentialsError: Your default credentials were not found."},
			{0, "google.auth.exceptions.RefreshError: Reauthentication is needed. Please run `gcloud auth application-default login` to reauthenticate."},
			{400, `{"type":"error","error":{"type":"invalid_request_error","message":"This organization has been disabled."}}`},
			{400, `{"error":{"message":"Organization has been restricted. Please reach out to support if you believe this was in error.","type":"invalid_request_error","code":"organization_restricted"}}`},
			{0, "OpenAIError: The OPENAI_API_KEY environment variable is missing or empty; either provide it, or instantiate the OpenAI client with an apiKey option"},
			{0, "openai.OpenAIError: The api_key client option must be set either by passing api_key to the client or by setting the OPENAI_API_KEY environment variable"},
			{0, "AI_LoadAPIKeyError: Anthropic API key is missing. Pass it using the 'apiKey' parameter or the ANTHROPIC_API_KEY environment variable."},
			{500, `{"error":"GROQ_API_KEY not configured"}`},
			{0, "litellm.AuthenticationError: AuthenticationError: OpenAIException - The api_key client option must be set"},
			{401, `{"error":{"message":"User not found.","code":401}}`},
			{0, "PermissionDeniedError: 403 x"},
			{401, `{"error":{"code":"1000","message":"身份验证失败"}}`},
			{0, "无效的令牌 (request id: 20260320)"},
			{0, "[GoogleGenerativeAI Error]: Error fetching from https://x: [400 Bad Request] API key not valid. Please pass a valid API key."},
			{0, "7 PERMISSION_DENIED: x"},
			{0, "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://x"},
			{0, "HTTP 401 (invalid_request_error: invalid_api_key) Incorrect API key provided"},
			{0, `API Error: 401 {"type":"error","error":{"type":"authentication_error","message":"OAuth token has expired. Please obtain a new token or refresh your existing token."}} · Please run /login`},
			{0, "Invalid API key · Please run /login"},
			{401, `{"error":{"message":"Authentication Error, Invalid proxy server token passed.","type":"token_not_found_in_db","code":"401"}}`},
			{0, `ERROR: {"detail":"Unauthorized"}`},
			{403, `{"error":{"message":"Access to this endpoint is forbidden. Please review our Terms of Service.","code":""}}`},
			{401, `{"message":"no api key supplied"}`},
			{400, `{"error":"Authorization header is correct, but the token seems invalid"}`},
			{400, `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***. You can obtain an API key from https://console.x.ai."}`},
			{403, `{"error":{"message":"Generative Language API has not been used in project 1 before or it is disabled.","status":"PERMISSION_DENIED","details":[{"reason":"SERVICE_DISABLED"}]}}`},
		},
		KindBilling: {
			{0, "RateLimitError: 429 You exceeded your current quota, please check your plan and billing details."},
			{429, `{"error":{"code":429,"message":"Your prepayment credits are depleted. Please go to AI Studio","status":"RESOURCE_EXHAUSTED"}}`},
			{403, `{"error":{"code":403,"message":"This API method requires billing to be enabled. Please enable billing on project #1","status":"PERMISSION_DENIED","details":[{"reason":"BILLING_DISABLED"}]}}`},
			{403, `{"error":{"message":"Key limit exceeded (total limit). Manage it using https://openrouter.ai/settings/keys","code":403}}`},
			{402, `{"error":{"message":"This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 1234.","code":402}}`},
			{402, `{"error":{"message":"Credit limit exceeded, please navigate to https://api.together.xyz/settings/billing to upgrade your plan.","type":"credit_limit"}}`},
			{412, `{"error":{"object":"error","type":"invalid_request_error","code":"PRECONDITION_FAILED","message":"Account x is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices."}}`},
			{402, `{"error":"You have exceeded your monthly included credits for Inference Providers. Subscribe to PRO"}`},
			{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Third-party apps now draw from your extra usage, not your plan limits. Add more at claude.ai/settings/usage and keep going."}}`},
			{429, `{"error":{"code":"1113","message":"您的账户已欠费，请充值后重试。"}}`},
			{403, `{"error":{"message":"预扣费额度失败, 用户剩余额度: ＄0.001, 需要预扣费额度: ＄0.002","type":"new_api_error"}}`},
			{403, `{"error":{"message":"用户额度不足","code":"insufficient_user_quota"}}`},
			{400, `{"code":"Arrearage","message":"Access denied, please make sure your account is in good standing."}`},
			{200, `{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`},
			{0, "HTTP 429 (insufficient_quota: insufficient_quota) You exceeded your current quota, please check your plan and billing details."},
			{0, "Credit balance is too low"},
			{400, `{"error":{"message":"ExceededBudget: User x has exceeded their budget. Current spend: 1.0; Max Budget: 0.5","type":"budget_exceeded","code":"400"}}`},
			{402, `{"error":{"message":"Payment required"}}`},
			{403, `{"error":"Your team x has either used all available credits or reached its monthly spending limit.","code":"Some resource has been exhausted"}`},
		},
		KindRateLimit: {
			{0, "An error occurred (ThrottlingException) when calling the InvokeModel operation (reached max retries: 4): Too many requests, please wait before trying again."},
			{0, "ThrottlingException: Too many tokens, please wait before trying again."},
			{0, "exceeded retry limit, last status: 429 Too Many Requests"},
			{0, "stream disconnected before completion: Rate limit reached for gpt-5 in organization org-x on tokens per min (TPM): Limit 30000, Used 30000. Please try again in 1s."},
			{0, "google.api_core.exceptions.ResourceExhausted: 429 Resource has been exhausted (e.g. check quota)."},
			{429, `{"error":{"code":429,"message":"Quota exceeded for aiplatform.googleapis.com/generate_content_requests_per_minute_per_project_per_base_model with base model: gemini.","status":"RESOURCE_EXHAUSTED"}}`},
			{429, `{"error":{"message":"Tokens per minute limit exceeded - too many tokens processed.","type":"too_many_tokens_error","param":"quota","code":"token_quota_exceeded"}}`},
			{429, `{"error":{"message":"Rate limit exceeded: free-models-per-min. ","code":429}}`},
			{429, `{"error":{"message":"Your account org-x<ak-y> request reached organization max RPM: 3, please try again after 1 seconds","type":"rate_limit_reached_error"}}`},
			{429, `{"error":{"code":"1302","message":"您当前使用该API的并发数过高，请降低并发，或联系客服增加限额。"}}`},
			{429, `{"error":{"code":"1303","message":"您当前使用该 API 的频率过高，请降低频率"}}`},
			{429, `{"error":{"code":"1305","message":"当前API请求过多，请稍后重试。"}}`},
			{0, "触发限流，请稍后重试"},
			{429, `{"code":"Throttling.AllocationQuota","message":"Allocated quota exceeded, please increase your quota limit."}`},
			{429, `{"code":"LimitRequests","message":"You exceeded your current requests list."}`},
			{200, `{"base_resp":{"status_code":1002,"status_msg":"rate limit"}}`},
			{0, `[GoogleGenerativeAI Error]: Error fetching from https://generativelanguage.googleapis.com/v1beta/models/gemini:generateContent: [429 Too Many Requests] You exceeded your current quota, please check your plan and billing details. [{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"x","quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]}]`},
			{0, "rpc error: code = ResourceExhausted desc = Resource has been exhausted"},
			{0, "requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: https://x"},
			{0, "HTTP 429 (tokens: rate_limit_exceeded) Rate limit reached for gpt-4o"},
			{0, "AxiosError: Request failed with status code 429"},
			{0, `litellm.RateLimitError: GeminiException - {"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}`},
			{0, `litellm.RateLimitError: AnthropicException - {"type":"error","error":{"type":"rate_limit_error","message":"Number of request tokens has exceeded your per-minute rate limit"}}`},
			{0, "No deployments available for selected model, Try again in 60 seconds. Passed model=gpt-4"},
			{429, `{"error":{"message":"No deployments available for selected model, Try again in 60 seconds","code":"429"}}`},
			{429, `{"error":{"message":"Sorry, you have exceeded your Copilot token usage. Please review our Terms of Service.","code":"rate_limited"}}`},
			{429, `{"message":"You are using a Trial key, which is limited to 20 API calls / minute."}`},
			{429, `{"error":{"message":"Rate limit reached for requests","code":"rate_limit_exceeded"}}`},
		},
		KindQuota: {
			{0, "An error occurred (ServiceQuotaExceededException) when calling X: Your request exceeds the service quota for your account"},
			{429, `{"message":"Too many tokens per day, please wait before trying again."}`},
			{429, `{"message":"Tokens per day limit exceeded - too many tokens processed.","type":"too_many_tokens_error","param":"quota","code":"token_quota_exceeded"}`},
			{429, `{"error":{"code":"RateLimitReached","message":"Rate limit of 50 per 86400s exceeded for UserByModelByDay. Please wait 40000 seconds before retrying."}}`},
			{429, "You've hit your limit · resets 3pm"},
			{429, `{"error":{"code":"1308","message":"已达到 5 小时的使用上限。您的限额将在 2026-03-20 14:00:00 重置。"}}`},
			{403, `{"code":"AllocationQuota.FreeTierOnly","message":"The free tier of the model has been exhausted."}`},
			{0, `[GoogleGenerativeAI Error]: Error fetching from https://x: [429 Too Many Requests] You exceeded your current quota [{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"retryDelay":"34s"}]`},
			{0, "You've hit your usage limit. Upgrade to Pro, visit settings or try again in 3 days 4 hours."},
			{429, `{"error":{"message":"Sorry, you've hit a rate limit","code":"user_weekly_rate_limited"}}`},
			{429, `{"message":"You are using a Trial key, which is limited to 1000 API calls / month. You can continue to use the Trial key for free or upgrade"}`},
		},
		KindOverloaded: {
			{0, "google.genai.errors.ServerError: 503 UNAVAILABLE. {'error': {'code': 503, 'message': 'The model is overloaded. Please try again later.', 'status': 'UNAVAILABLE'}}"},
			{429, `{"message":"We're experiencing high traffic right now! Please try again soon.","type":"too_many_requests_error","param":"queue","code":"queue_exceeded"}`},
			{429, `{"object":"error","message":"Service tier capacity exceeded for this model.","type":"service_tier_capacity_exceeded","code":"3505"}`},
			{503, `{"error":{"message":"Service is too busy. We advise users to temporarily switch to alternative LLM API service providers.","type":"service_unavailable_error"}}`},
			{503, `{"error":"Model meta-llama/x is currently loading","estimated_time":20.0}`},
			{503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`},
			{0, "litellm.InternalServerError: AnthropicException - Overloaded"},
			{429, `{"error":{"code":"1305","message":"该模型当前访问量过大，请您稍后再试"}}`},
			{0, "当前分组上游负载已饱和，请稍后再试"},
			{0, "[GoogleGenerativeAI Error]: Error fetching from https://x: [503 Service Unavailable] The model is overloaded. Please try again later."},
			{503, "no healthy upstream"},
			{0, "We're currently experiencing high demand, which may cause temporary errors."},
			{0, "Selected model is at capacity. Please try a different model."},
			{429, `{"error":"Model is overloaded","error_type":"overloaded"}`},
		},
		KindUnavailable: {
			{0, "An error occurred (ModelErrorException) when calling Converse: odd"},
			{0, "An error occurred (ModelNotReadyException) when calling Converse: Model is not ready for inference"},
			{0, "An error occurred (InternalServerException) when calling X: odd"},
			{0, "An error occurred (ServiceUnavailableException) when calling the ConverseStream operation: Bedrock is unable to process your request."},
			{0, "google.genai.errors.ServerError: 500 INTERNAL. {'error': {'code': 500, 'message': 'An internal error has occurred.', 'status': 'INTERNAL'}}"},
			{0, "The server had an error while processing your request. Sorry about that!"},
			{0, "An error occurred while processing your request. You can retry your request, or contact us through our help center"},
			{500, `{"error":"llama runner process has terminated: exit status 2"}`},
			{0, "llama runner process has terminated: exit status 2"},
			{0, "model requires more system memory (10.0 GiB) than is available (8.0 GiB)"},
			{0, "litellm.ServiceUnavailableError: x"},
			{0, "524 status code (no body)"},
			{0, "HTTPError: 502 Server Error: Bad Gateway for url: https://x"},
			{0, "[API Error: 500 status code (no body)]"},
			{0, "服务器内部错误"},
			{0, "14 UNAVAILABLE: No connection established"},
			{0, "Error: Provider returned error"},
			{0, "upstream connect error or disconnect/reset before headers. reset reason: connection termination"},
			{0, "aiohttp.client_exceptions.ClientResponseError: 503, message='Service Unavailable', url='https://x'"},
			{0, "Status: 503 (Service Unavailable)"},
			{424, `{"error":"Request failed during generation: Server error: CUDA out of memory","error_type":"generation"}`},
			{0, "CUDA error: out of memory"},
			{0, "vllm.engine.async_llm_engine.AsyncEngineDeadError: Background loop has errored already."},
			{500, `{"error":"model requires more system memory (10 GiB) than is available (8 GiB)"}`},
		},
		KindStreamInterrupted: {
			{0, "An error occurred (modelStreamErrorException) when calling the InvokeModelWithResponseStream operation: x"},
			{0, "peer closed connection without sending complete message body (incomplete chunked read)"},
			{0, "curl: (18) transfer closed with outstanding read data remaining"},
			{0, "TypeError: terminated"},
			{0, "Connection closed while reading response"},
			{0, "aiohttp.client_exceptions.ClientPayloadError: Response payload is not completed"},
			{0, "httpx.RemoteProtocolError: peer closed connection without sending complete message body (incomplete chunked read)"},
			{0, "requests.exceptions.ChunkedEncodingError: ('Connection broken: IncompleteRead(0 bytes read)', IncompleteRead(0 bytes read))"},
			{0, "urllib3.exceptions.ProtocolError: Response ended prematurely"},
			{0, "Stream ended without a finish_reason"},
			{0, "Error: stream ended without message_stop"},
			{0, "Model stream ended without a finish reason."},
		},
		KindMalformedResponse: {
			{424, `{"message":"Model produced invalid sequence as part of ToolUse. Please refer to the model tool use troubleshooting guide."}`},
			{0, "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)"},
			{0, `SyntaxError: Unexpected token '<', "<!DOCTYPE "... is not valid JSON`},
			{0, `AI_TypeValidationError: Type validation failed: Value: {"id":1}`},
			{0, "openai.APIResponseValidationError: Data returned by API invalid for expected schema."},
			{500, `{"error":"error parsing tool call: raw='{\"a\":', err=unexpected end of JSON input"}`},
			{400, `{"error":{"message":"Failed to generate JSON. Please adjust your prompt.","type":"invalid_request_error","code":"json_validate_failed","failed_generation":""}}`},
			{500, `{"error":{"message":"The model produced invalid content. Consider modifying your prompt if you are seeing this error persistently.","type":"model_error"}}`},
			{0, "InvalidStreamError: Model stream ended with malformed function call."},
			{0, "Failed to parse tool call arguments as JSON"},
			{0, "Invalid tool arguments: JSON parse error"},
			{0, "Could not parse tool input (expected a JSON string)"},
		},
		KindEmptyResponse: {
			{0, "AI_EmptyResponseBodyError: Empty response body"},
			{0, "AI_NoContentGeneratedError: No content generated."},
			{0, "Model returned an empty response"},
			{200, `{"candidates":[{"content":{"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":10}}`},
			{200, `{"id":"msg_1","type":"message","role":"assistant","content":[],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":0}}`},
			{200, `{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":""}],"stop_reason":"end_turn"}`},
			{0, "Model stream ended with empty response text."},
			{0, "The model returned no response. Try again."},
			{0, "Unexpected API Response: The language model did not provide any assistant messages. This may indicate an issue with the API or the model's output."},
			{0, "ValueError: No generation chunks were returned"},
		},
		KindContextOverflow: {
			{400, `{"message":"Input is too long for requested model."}`},
			{422, `{"error":"Input validation error: ` + "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 1000 `max_new_tokens`" + `","error_type":"validation"}`},
			{400, `{"error":"Trying to keep the first 6000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}`},
			{500, `{"error":"input is too large to process. increase the physical batch size"}`},
			{0, "litellm.ContextWindowExceededError: litellm.BadRequestError: x"},
			{400, `{"error":{"message":"prompt token count of 140000 exceeds the limit of 128000","code":"model_max_prompt_tokens_exceeded"}}`},
			{400, `{"error":{"code":"1261","message":"Prompt 超长"}}`},
			{0, "Prompt is too long"},
			{400, `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 140000 tokens."}`},
		},
		KindInvalidRequest: {
			{0, "An error occurred (ValidationException) when calling the Converse operation: The model returned the following errors: max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens"},
			{400, `{"message":"This model doesn't support tool use."}`},
			{0, "BadRequestError: 400 Invalid schema for function 'x'"},
			{0, "litellm.BadRequestError: OpenAIException - Unsupported something"},
			{400, `{"error":{"message":"Invalid max_tokens value, the valid range of max_tokens is [1, 8192]","type":"invalid_request_error"}}`},
			{0, "max_tokens is too large: 200000. This model supports at most 16384 completion tokens, whereas you provided 200000."},
			{0, "Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 8193 (exclusive)."},
			{0, "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]"},
			{0, "registry.ollama.ai/library/deepseek-r1:7b does not support tools"},
			{400, `{"error":{"code":400,"message":"Function calling is not enabled for models/gemma-3-27b-it","status":"INVALID_ARGUMENT"}}`},
			{0, "Unsupported parameter: 'temperature' is not supported with this model."},
			{0, "AI_UnsupportedFunctionalityError: 'image' functionality not supported."},
			{400, `{"error":"\"qwen2.5\" does not support thinking"}`},
			{500, `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`},
			{0, "3 INVALID_ARGUMENT: odd"},
			{0, "litellm.exceptions.BadRequestError: litellm.BadRequestError: LLM Provider NOT provided. Pass in the LLM provider you are trying to call."},
			{0, "litellm.UnsupportedParamsError: ollama does not support parameters: {'tools'}"},
			{0, `litellm.BadRequestError: VertexAIException BadRequestError - {"error":{"code":400,"message":"Unable to submit request because the model supports up to 65537 tokens"}}`},
			{400, `{"error":{"message":"Could not process image","type":"invalid_request_error"}}`},
			{400, `{"error":{"message":"The encrypted content gAAA could not be verified. Reason: Encrypted content could not be decrypted or parsed.","code":"invalid_encrypted_content"}}`},
			{400, `{"detail":"Unsupported parameter: max_output_tokens"}`},
			{422, "{\"error\":\"Input validation error: `stop` supports up to 4 stop sequences. Given: 5\",\"error_type\":\"validation\"}"},
			{0, "ollama._types.ResponseError: registry.ollama.ai/library/phi3 does not support tools (status code: 400)"},
			{400, `{"error":{"message":"Invalid 'input[3].content[0].text': string too long. Expected a string with maximum length 10485760","code":"string_above_max_length"}}`},
			{400, `{"error":{"message":"Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 140 instead.","code":"array_above_max_length"}}`},
		},
		KindContentFilter: {
			{400, `{"error":{"message":"Content Exists Risk","type":"invalid_request_error"}}`},
			{0, "openai.ContentFilterFinishReasonError: Could not parse response content as the request was rejected by the content filter"},
			{0, "litellm.ContentPolicyViolationError: x"},
			{0, "Candidate was blocked due to SAFETY"},
			{0, "The response was blocked due to prohibited content"},
			{0, "BlockedPromptException: block_reason: SAFETY"},
			{400, `{"error":{"code":"1301","message":"系统检测到输入或生成内容可能包含不安全或敏感内容，请您避免输入易产生敏感内容的提示语"},"contentFilter":[{"level":1,"role":"user"}]}`},
			{400, `{"error":{"message":"Your input image may contain content that is not allowed by our safety system.","code":"moderation_blocked"}}`},
		},
		KindModelNotFound: {
			{0, "An error occurred (ResourceNotFoundException) when calling the InvokeModel operation: Could not find the thing"},
			{400, `{"message":"Invocation of model ID anthropic.claude with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile"}`},
			{404, `{"error":{"message":"models/gemini-x is not found for API version v1beta, or is not supported for generateContent.","code":404}}`},
			{400, `{"detail":"The 'gpt-5-codex' model is not supported when using Codex with a ChatGPT account."}`},
			{0, "Publisher Model `projects/x/locations/us/publishers/anthropic/models/y` was not found or your project does not have access to it."},
			{0, "NotFoundError: 404 The model `x` does not exist"},
			{400, `{"error":"No models loaded. Please load a model in the developer page."}`},
			{410, `{"error":"gone"}`},
			{503, `{"error":{"message":"当前分组 default 下对于模型 gpt-5 无可用渠道","type":"new_api_error"}}`},
			{0, "[GoogleGenerativeAI Error]: Error fetching from https://x: [404 Not Found] models/gemini-pro is not found for API version v1beta"},
			{0, `openai.NotFoundError: Error code: 404 - {'error': {'message': 'model "x" not found, try pulling it first', 'type': 'api_error'}}`},
			{0, "Azure.RequestFailedException: The API deployment for this resource does not exist."},
			{0, "Request failed with status code 404"},
			{0, `litellm.APIConnectionError: OllamaException - {"error":"model 'llama3' not found"}`},
			{400, `{"error":{"message":"litellm.BadRequestError: You passed in model=x. There are no healthy deployments for this model","code":"400"}}`},
			{400, "{\"error\":{\"message\":\"/chat/completions: Invalid model name passed in model=x. Call `/v1/models` to view available models\",\"code\":\"400\"}}"},
			{404, `{"error":"The model HuggingFaceH4/x does not exist"}`},
			{400, `{"error":{"message":"The requested model 'x' is not supported by any provider you have enabled.","type":"invalid_request_error","param":"model","code":"model_not_supported"}}`},
			{0, `ResponseError: model "qwen3" not found (status code: 404)`},
		},
		KindOutputTruncated: {
			{200, `{"candidates":[{"content":{"role":"model"},"finishReason":"MAX_TOKENS","index":0}]}`},
			{0, "Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens."},
			{0, "API Error: Claude's response exceeded the 32000 output token maximum. To configure this behavior, set the CLAUDE_CODE_MAX_OUTPUT_TOKENS environment variable."},
			{0, "openai.LengthFinishReasonError: Could not parse response content as the length limit was reached"},
			{0, "IncompleteOutputException: The output is incomplete due to a max_tokens length limit."},
		},
		KindMisconfigured: {
			{404, `{"detail":"Not Found"}`},
			{404, `{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}`},
			{404, `<!DOCTYPE html><html><body><pre>Cannot POST /chat/completions</pre></body></html>`},
			{404, `{"error":{"code":"404","message": "Resource not found"}}`},
			{0, "NotFoundError: 404 status code (no body)"},
			{404, `{"error":{"message":"Unknown request URL: POST /openai/v1. Please check the URL for typos","type":"invalid_request_error","code":"unknown_url"}}`},
			{200, `{"error":"Unexpected endpoint or method. (POST /chat/completions)"}`},
			{0, "Request URL is missing an 'http://' or 'https://' protocol."},
			{0, "[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)"},
			{0, "litellm.NotFoundError: NotFoundError: OpenAIException - Error code: 404 - {'detail': 'Not Found'}"},
			{0, "Model gpt-x is not accessible via the /chat/completions endpoint"},
			{410, `{"error":"https://api-inference.huggingface.co is no longer supported. Please use https://router.huggingface.co/hf-inference instead."}`},
			{0, "ProxyError('Cannot connect to proxy.', OSError('Tunnel connection failed: 403 Forbidden'))"},
		},
	} {
		for _, a := range answers {
			d := Diagnose(toldAs(a.status, a.text))
			checkEvidence(t, a.text, d)
			if d.Failure.Kind != kind {
				t.Errorf("%s, want %s: %d %s\nby %s", d.Failure.Kind, kind, a.status, a.text, spoken(d))
			}
		}
	}
}

// TestNearMissesOfFamilies are close to the codes and words of a family, but mean something else.
// The comment above each line names the rule that it tests.
func TestNearMissesOfFamilies(t *testing.T) {
	for _, tt := range []struct {
		status  int
		text    string
		want    Kind
		variant string
	}{
		// must be verified
		{400, "The signature of the image must be verified by whoever sends it", KindInvalidRequest, ""},
		{400, "organization: unknown field; see the documents that say how requests and their parts must be verified", KindInvalidRequest, ""},
		// _API_KEY is not set
		{400, `{"error":{"message":"Invalid schema for function 'f': 'required' property 'my_api_key' is missing","type":"invalid_request_error"}}`, KindInvalidRequest, ""},
		{429, "Rate limit reached for the key in OPENAI_API_KEY", KindRateLimit, ""},
		{503, `{"detail":"503: no server is free for NVIDIA_NIM_API_KEY"}`, KindOverloaded, ""},
		// templates, offline computers, busy models, limits of an answer
		{500, "The service that keeps chat templates did not answer", KindUnavailable, ""},
		{500, `{"error":{"code":500,"message":"Failed to apply chat template: roles are odd"}}`, KindInvalidRequest, "history"},
		{0, "Error: no internet connection", KindUnreachable, ""},
		{400, "The field 'offline' says whether you are offline: unknown field", KindInvalidRequest, ""},
		{429, `{"error":{"message":"Model busy, retry later"}}`, KindOverloaded, ""},
		{429, "The token limit per minute was hit before any response", KindRateLimit, ""},
		// codes of billing
		{403, `{"error":{"code":"insufficient_permissions","message":"no"}}`, KindAuth, "permission"},
		{400, `{"error":{"code":"credit_note_invalid","message":"no"}}`, KindInvalidRequest, ""},
		// codes of quotas
		{429, `{"error":{"code":"quota_exceeded","message":"100 requests per minute"}}`, KindRateLimit, ""},
		{429, `{"error":{"code":"quota_not_known","message":"slow"}}`, KindRateLimit, ""},
		// codes of overflow
		{400, `{"error":{"code":"context_length_too_short","message":"no"}}`, KindInvalidRequest, ""},
		// codes of images
		{400, `{"error":{"code":"image_content_policy_violation","message":"no"}}`, KindContentFilter, ""},
		{500, `{"error":{"code":"image_generation_server_error","message":"no"}}`, KindUnavailable, ""},
		// codes that are prose
		{403, `{"code":"The model was asked for, and the caller has been told that it is not found there","error":"no"}`, KindAuth, "permission"},
		// empty answers
		{400, "The request body is empty", KindInvalidRequest, ""},
		{0, "the list of tools must not be an empty response schema", KindInvalidRequest, ""},
		{0, "messages: text content blocks must be non-empty", KindInvalidRequest, "history"},
		// length limits
		{0, "The context length limit was reached", KindContextOverflow, ""},
		{429, "Rate limit was reached", KindRateLimit, ""},
		// addresses
		{400, "Invalid URL in messages[0].content[1].image_url.url", KindInvalidRequest, ""},
		{404, `{"error":{"message":"Not Found","code":"model_not_found"}}`, KindModelNotFound, ""},
		{404, `{"error":{"message":"llama-0 not found"}}`, KindModelNotFound, ""},
		// money
		{429, "Rate limit exceeded. Upgrade to a paid plan to raise it.", KindRateLimit, ""},
		{400, "unknown field credit_limit", KindInvalidRequest, ""},
		{403, "Your account is suspended", KindAuth, "permission"},
		{429, "Rate limit exceeded for your credit tier: slow down", KindRateLimit, ""},
		// quotas
		{429, "3 requests per second; the day before it were 5", KindRateLimit, ""},
		// the limit of an answer
		{400, "input length and `max_tokens` exceed context limit: 199999 + 8192 > 200000", KindContextOverflow, ""},
		{0, "This request requires more credits, or fewer max_tokens: you can afford at most 5", KindBilling, ""},
		{400, "'max_tokens' or 'max_completion_tokens' is too large: 32768. This model's maximum context length is 32768 tokens", KindContextOverflow, ""},
		// fewer tokens
		{422, "Input validation error: `stop` must have less than 5 items", KindInvalidRequest, ""},
		{429, "inputs must have less than 4096 tokens per minute", KindRateLimit, ""},
		// credentials
		{401, "Incorrect API key provided: sk-…. Set OPENAI_API_KEY", KindAuth, ""},
		{403, "The security token included in the request is invalid.", KindAuth, ""},
		// does not support
		{500, "The server does not support tools at the moment", KindUnavailable, ""},
		{400, "User location is not supported for the API use, nor are tools", KindAuth, "region"},
		{404, "The requested model is not supported, with tools or without", KindModelNotFound, ""},
		{0, "Reached context length of 4096 tokens, but this model does not support mid-generation context overflow for chat", KindContextOverflow, ""},
		{422, "Make sure 'text-generation' task is supported by the model", KindInvalidRequest, ""},
		// degraded
		{400, "missing thought_signature may lead to degraded model performance", KindInvalidRequest, "history"},
		{400, "The field 'degraded' is unknown", KindInvalidRequest, ""},
		{503, "The service is temporarily unavailable", KindUnavailable, ""},
		// chunks that cannot be read
		{400, "1 validation error for ChatCompletionRequest: messages is missing", KindInvalidRequest, ""},
		{0, "BadRequestError: 1 validation error for CompletionArgs", KindInvalidRequest, ""},
		// terminated
		{0, "Your account has been terminated", KindAuth, "permission"},
		{0, "the tool's process was terminated", KindUnknown, ""},
		// error numbers
		{0, "[Errno 2] No such file or directory: 'x'", KindUnknown, ""},
		{0, "[Errno 13] Permission denied: 'x'", KindUnknown, ""},
		{0, "[WinError 2] The system cannot find the file specified", KindUnknown, ""},
		{0, "row 10061 of 10060 was odd", KindUnknown, ""},
		// class names around something else
		{0, "litellm.APIConnectionError: OpenAIException - Rate limit reached", KindRateLimit, ""},
		{0, "stream disconnected before completion: Your input exceeds the context window of this model", KindContextOverflow, ""},
		{0, "litellm.MidStreamFallbackError: litellm.RateLimitError: slow", KindRateLimit, ""},
		// statuses with their names
		{0, "it is said that x429 too many requests came", KindRateLimit, ""},
		{0, "the 503rd service was odd", KindUnknown, ""},
		{0, "ValueError: 404 items were odd", KindUnknown, ""},
		// Chinese
		{400, "参数 每日 有误", KindInvalidRequest, ""},
		{429, "每分钟请求次数超过限制,如需提高请充值", KindRateLimit, ""},
		{400, "请求参数验证失败", KindInvalidRequest, ""},
		{0, "账户余额充足", KindUnknown, ""},
	} {
		d := Diagnose(toldAs(tt.status, tt.text))
		if d.Failure.Kind != tt.want || d.Failure.Variant != tt.variant {
			t.Errorf("%s/%s, want %s/%s: %d %s\nby %s", d.Failure.Kind, d.Failure.Variant, tt.want, tt.variant, tt.status, tt.text, spoken(d))
		}
	}
}

// TestCodeFamilies writes one code in every usual notation.
func TestCodeFamilies(t *testing.T) {
	for want, list := range map[Kind][]string{
		KindBilling:           {"insufficient_quota", "InsufficientBalance", "INSUFFICIENT_CREDITS", "insufficient-funds", "billing_hard_limit_reached", "BILLING_DISABLED", "AccessDenied.Unpurchased"},
		KindQuota:             {"quota_exceeded", "QuotaExceeded", "QUOTA_EXHAUSTED", "usage_limit_reached", "user_weekly_rate_limited", "ServiceQuotaExceededException"},
		KindContextOverflow:   {"context_length_exceeded", "ContextWindowExceededError", "exceed_context_size_error", "model_max_prompt_tokens_exceeded", "InputTooLong"},
		KindOverloaded:        {"server_is_overloaded", "engine_overloaded_error", "OverloadedError", "service_tier_capacity_exceeded", "queue_exceeded"},
		KindRateLimit:         {"rate_limit_exceeded", "RateLimitReached", "ThrottlingException", "Throttling.RateQuota", "userRateLimitExceeded", "Too Many Requests"},
		KindAuth:              {"invalid_api_key", "InvalidApiKey", "API_KEY_INVALID", "com.amazon.coral.service#AccessDeniedException", "SERVICE_DISABLED", "ExpiredToken"},
		KindModelNotFound:     {"model_not_found", "ModelNotFound", "DeploymentNotFound", "model_not_supported"},
		KindContentFilter:     {"content_filter", "ContentFilter", "DataInspectionFailed", "InternalError.Algo.DataInspectionFailed", "guardrail_intervened"},
		KindMalformedResponse: {"MALFORMED_FUNCTION_CALL", "tool_use_failed", "json_validate_failed"},
		KindInvalidRequest: {
			"invalid_encrypted_content", "vector_store_not_found", "invalid_image", "invalid_image_format", "invalid_base64_image", "invalid_image_url",
			"image_too_large", "image_too_small", "image_parse_error", "invalid_image_mode", "image_file_too_large", "unsupported_image_media_type",
			"empty_image_file", "failed_to_download_image", "image_file_not_found",
		},
		KindUnavailable: {"server_error", "InternalServerException", "ModelErrorException", "modelNotReadyException", "SystemError", "vector_store_timeout"},
		KindTimeout:     {"deadline_exceeded", "ModelTimeoutException", "RequestTimeOut"},
	} {
		for _, code := range list {
			quoted, _ := json.Marshal(code)
			for _, body := range []string{
				fmt.Sprintf(`{"error":{"code":%s,"message":"x"}}`, quoted), fmt.Sprintf(`{"error":{"type":%s,"message":"x"}}`, quoted),
				fmt.Sprintf(`{"__type":%s,"message":"x"}`, quoted), fmt.Sprintf(`{'headers': {':exception-type': '%s'}, 'body': b'{"message":"x"}'}`, code),
				fmt.Sprintf(`{"type":"response.failed","response":{"status":"failed","error":{"code":%s,"message":"x"}}}`, quoted),
			} {
				d := Diagnose(Evidence{Status: 200, Phase: PhaseMidStream, Body: []byte(body)})
				if d.Failure.Kind != want {
					t.Errorf("%s: %s, want %s; by %s", body, d.Failure.Kind, want, spoken(d))
				}
			}
		}
	}
	history := Diagnose(toldAs(400, `{"error":{"code":"invalid_encrypted_content","message":"x"}}`))
	if history.Failure.Variant != "history" {
		t.Errorf("variant %q, want history", history.Failure.Variant)
	}
}

// TestBlankAnswers: a complete answer without content is empty; an answer with content, or a part
// of one, is not.
func TestBlankAnswers(t *testing.T) {
	for body, want := range map[string]Kind{
		`{"choices":[{"message":{"role":"assistant","content":null},"finish_reason":"stop"}]}`:                                                   KindEmptyResponse,
		`{"choices":[{"message":{"role":"assistant","content":"","tool_calls":[]},"finish_reason":"stop"}]}`:                                     KindEmptyResponse,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP"}]}`:                                              KindEmptyResponse,
		`{"type":"message","role":"assistant","content":[{"type":"text","text":" "}],"stop_reason":"end_turn"}`:                                  KindEmptyResponse,
		`{"object":"response","status":"completed","output":[]}`:                                                                                 KindEmptyResponse,
		`{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"f"}}]},"finish_reason":"stop"}]}`: KindMalformedResponse,
		`{"choices":[{"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]}`:                                                KindMalformedResponse,
		`{"choices":[{"delta":{"content":""},"finish_reason":"stop"}]}`:                                                                          KindMalformedResponse,
		`{"choices":[{"message":{"content":null},"finish_reason":"content_filter"}]}`:                                                            KindContentFilter,
		`{"choices":[{"message":{"content":null},"finish_reason":"length"}]}`:                                                                    KindOutputTruncated,
		`{"error":{"message":"x","code":"server_error"},"choices":[{"message":{"content":null},"finish_reason":"stop"}]}`:                        KindUnavailable,
		`{"type":"message","content":[{"type":"image","data":"` + strings.Repeat("A", 1000) + `"}],"stop_reason":"end_turn"}`:                    KindMalformedResponse,
	} {
		if d := Diagnose(Evidence{Status: 200, Body: []byte(body)}); d.Failure.Kind != want {
			t.Errorf("%s: %s, want %s; by %s", body, d.Failure.Kind, want, spoken(d))
		}
	}
}
