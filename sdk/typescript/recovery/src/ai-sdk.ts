/**
 * Mulligan's recovery for Vercel's AI SDK:
 *
 *     const model = wrapLanguageModel({ model: anthropic('claude-sonnet-4-5'), middleware: mulliganRecovery({ alternatives: [openai('gpt-5.2')] }) });
 *     const { text } = await generateText({ model, prompt, maxRetries: 0 });
 *
 * Retry, switch and fail are obeyed; of a streamed answer until its content begins.
 */
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Middleware, LanguageModelV4StreamPart, LanguageModelV4StreamResult } from '@ai-sdk/provider';

import { Advisor, type Call } from './advisor.js';

export interface RecoveryOptions {
  advisor?: Advisor;
  /** Models that may be switched to, in order of preference. */
  alternatives?: readonly LanguageModelV4[];
}

/** Asks Mulligan about each model call that fails. */
export function mulliganRecovery({ advisor = new Advisor(), alternatives = [] }: RecoveryOptions = {}): LanguageModelV4Middleware {
  const begin = (model: LanguageModelV4) => {
    const models = new Map([model, ...alternatives].reverse().map((one) => [nameOf(one), one]));
    const call = advisor.call(nameOf(model), [model, ...alternatives].map(nameOf));
    return { call, current: () => models.get(call.model) ?? model };
  };
  return {
    specificationVersion: 'v4',

    async wrapGenerate({ model, params }) {
      const { call, current } = begin(model);
      for (;;) {
        try {
          const result = await current().doGenerate(params);
          void call.answered();
          return result;
        } catch (error) {
          if (!(await call.failed(error, params.abortSignal))) {
            throw error;
          }
        }
      }
    },

    async wrapStream({ model, params }) {
      const { call, current } = begin(model);
      for (;;) {
        try {
          return await begun(call, current(), params);
        } catch (error) {
          if (!(await call.failed(error, params.abortSignal))) {
            throw error;
          }
        }
      }
    },
  };
}

/** Begins to stream, and gives the stream once there is content; what fails before is thrown. */
async function begun(call: Call, model: LanguageModelV4, params: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamResult> {
  const result = await model.doStream(params);
  const reader = result.stream.getReader();
  const held: LanguageModelV4StreamPart[] = [];
  let ended = false;
  while (!ended) {
    const { done, value } = await reader.read();
    ended = done;
    if (value?.type === 'error') {
      reader.cancel().catch(() => {}); // it has failed already
      throw value.error;
    }
    if (value) {
      held.push(value);
      ended ||= !BEFORE_CONTENT.has(value.type);
    }
  }
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    async pull(controller) {
      const { done, value } = held.length ? { done: false, value: held.shift() } : await reader.read();
      if (done) {
        controller.close();
        return;
      }
      if (value!.type === 'finish') {
        void call.answered();
      }
      controller.enqueue(value!);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return { ...result, stream };
}

const BEFORE_CONTENT = new Set<LanguageModelV4StreamPart['type']>(['stream-start', 'response-metadata', 'raw', 'ping']);

/** A model as Mulligan names it: provider/model. The AI SDK's providers name their API, too: "openai.chat". */
function nameOf({ provider, modelId }: LanguageModelV4): string {
  return `${provider.split('.', 1)[0]}/${modelId}`;
}
