/**
 * Mulligan's recovery for the OpenAI Agents SDK:
 *
 *     const runner = new Runner({ modelProvider: new MulliganRecovery({ alternatives: ['gpt-5.2-mini'] }) });
 *     const result = await runner.run(agent, 'hi');
 *
 * The provider wraps each model: retry, switch and fail are obeyed, of a streamed answer until its first event.
 */
import { getDefaultModel, type Model, type ModelProvider, type ModelRequest, type ModelResponse, OpenAIProvider, type StreamEvent } from '@openai/agents';

import { Advisor, type Call } from './advisor.js';

export interface RecoveryOptions {
  advisor?: Advisor;
  /** Models that may be switched to, as the provider names them, in order of preference. */
  alternatives?: readonly string[];
  /** By default OpenAI's. */
  provider?: ModelProvider;
}

/** Gives the models of another provider, each of which asks Mulligan about its calls that fail. */
export class MulliganRecovery implements ModelProvider {
  readonly #advisor: Advisor;
  readonly #provider: ModelProvider;
  readonly #alternatives: Map<string, string>;

  constructor({ advisor = new Advisor(), alternatives = [], provider }: RecoveryOptions = {}) {
    this.#advisor = advisor;
    this.#provider = provider ?? new OpenAIProvider();
    this.#alternatives = new Map(alternatives.map((name) => [nameOf(name), name]));
  }

  async getModel(modelName?: string): Promise<Model> {
    const provider = this.#provider;
    const first = await provider.getModel(modelName);
    const name = nameOf(modelName || getDefaultModel());
    const alternatives = this.#alternatives;
    return new Recovering(
      first,
      () => this.#advisor.call(name, [name, ...alternatives.keys()]),
      async (call) => call.model === name ? first : await provider.getModel(alternatives.get(call.model)),
    );
  }
}

class Recovering implements Model {
  readonly supportsPromptModelSelection: boolean;

  constructor(readonly first: Model, readonly begin: () => Call, readonly current: (call: Call) => Promise<Model>) {
    this.supportsPromptModelSelection = first.supportsPromptModelSelection ?? false;
  }

  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    const call = this.begin();
    for (;;) {
      try {
        const response = await (await this.current(call)).getResponse(request);
        void call.answered();
        return response;
      } catch (error) {
        if (!(await call.failed(error, request.signal))) {
          throw error;
        }
      }
    }
  }

  async *getStreamedResponse(request: ModelRequest): AsyncIterable<StreamEvent> {
    const call = this.begin();
    for (;;) {
      let begun = false;
      try {
        for await (const event of (await this.current(call)).getStreamedResponse(request)) {
          begun = true;
          yield event;
        }
        void call.answered();
        return;
      } catch (error) {
        if (begun || !(await call.failed(error, request.signal))) {
          throw error;
        }
      }
    }
  }

  getRetryAdvice(...args: Parameters<NonNullable<Model['getRetryAdvice']>>): ReturnType<NonNullable<Model['getRetryAdvice']>> {
    return this.first.getRetryAdvice?.(...args);
  }
}

/** A model as Mulligan names it: provider/model; OpenAI's are the SDK's own. */
function nameOf(model: string): string {
  return model.includes('/') ? model : `openai/${model}`;
}
