/**
 * Ask Mulligan what to do about a model call that failed, from any program:
 *
 *     const call = new Advisor().call('anthropic/claude-sonnet-4-5', ['openai/gpt-5.2']);
 *     for (;;) {
 *       try {
 *         const answer = await ask(call.model);
 *         call.answered();
 *         return answer;
 *       } catch (error) {
 *         if (!(await call.failed(error))) throw error; // it has waited as it was told to; call.model may be another one now
 *       }
 *     }
 *
 * A program whose Mulligan is gone goes on as without it: failed() is false within a quarter of a second.
 */
export { acts, Advisor, type AdvisorOptions, type Advice, Call } from './advisor.js';
export { type Evidence, evidenceOf } from './evidence.js';
