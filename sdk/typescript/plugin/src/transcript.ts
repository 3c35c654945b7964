import { log } from "./log.js";

/** One turn of a conversation. */
export interface Message {
  /** Who speaks; `tool` says the results of tool calls. */
  readonly role: "user" | "assistant" | "tool";
  readonly parts: readonly Part[];
  /** The model that wrote an assistant's message, provider/model. */
  readonly model?: string;
}

/** One piece of a message: at most one of its fields is set, and none for an empty text. */
export interface Part {
  readonly text?: string;
  readonly thinking?: Thinking;
  readonly call?: ToolCall;
  readonly result?: ToolResult;
  readonly image?: Image;
}

/** Reasoning that a model showed, without its signatures. */
export interface Thinking {
  /** Not set where the provider hides it. */
  readonly text?: string;
}

/** A model's wish that a tool be run. */
export interface ToolCall {
  /** Unique within the conversation. */
  readonly id: string;
  /** The tool. */
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** What a tool call came to. */
export interface ToolResult {
  /** The `id` of the call. */
  readonly callId: string;
  /** The tool. */
  readonly name: string;
  readonly text: string;
  /** Not set = it is none. */
  readonly isError?: boolean;
}

/** A picture, without its data. */
export interface Image {
  /** For example `image/png`. */
  readonly mediaType: string;
}

/**
 * Converts what a host sent; nothing stands for no grant. What is no JSON list is
 * logged, and counts as nothing: a plugin can still do without. The log never quotes
 * it, nor the parser's error, which does.
 */
export function newTranscript(json: Buffer): readonly Message[] | undefined {
  if (json.length === 0) {
    return undefined;
  }
  const list = parse(json);
  if (!Array.isArray(list)) {
    log.warn("the transcript is not a JSON list: left out", { bytes: json.length });
    return undefined;
  }
  return list as Message[];
}

/** Gives undefined for what is no JSON. */
function parse(json: Buffer): unknown {
  try {
    return JSON.parse(json.toString());
  } catch {
    return undefined;
  }
}
