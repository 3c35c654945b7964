// Agents of npm's hosts, for the fault table to be played to: POST {host, lab, url, token, timeout, model, other}
// is answered with what the agent said, or what it failed with, and what was warned of. One advisor for each key.
import http from 'node:http';

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Advisor } from '@mulligan-run/recovery';
import { mulliganRecovery } from '@mulligan-run/recovery/ai-sdk';
import { MulliganRecovery } from '@mulligan-run/recovery/openai-agents';
import { Agent, OpenAIProvider, Runner } from '@openai/agents';
import { generateText, streamText, wrapLanguageModel } from 'ai';
import OpenAI from 'openai';

function aiSdk({ lab, model, other }, advisor) {
  const at = (name) => createOpenAICompatible({ name, baseURL: lab, apiKey: 'k' }); // another account is another provider
  const middleware = mulliganRecovery({ advisor, alternatives: [at('elsewhere')(other)] });
  return { model: wrapLanguageModel({ model: at('openai')(model), middleware }), prompt: 'hi', maxRetries: 0 };
}

function openAIAgents({ lab, model, other }, advisor) {
  const accounts = new OpenAIProvider({ openAIClient: new OpenAI({ baseURL: lab, apiKey: 'k', maxRetries: 0 }), useResponses: false });
  const provider = { getModel: (name) => accounts.getModel(name?.replace(/^elsewhere\//, '')) };
  const modelProvider = new MulliganRecovery({ advisor, alternatives: [`elsewhere/${other}`], provider });
  return [new Runner({ modelProvider, tracingDisabled: true }), new Agent({ name: 'a', model })];
}

const hosts = {
  'ai-sdk': async (asked, advisor) => (await generateText(aiSdk(asked, advisor))).text,
  'ai-sdk-streamed': async (asked, advisor) => {
    let text = '';
    let failed;
    for await (const part of streamText({ ...aiSdk(asked, advisor), onError: () => {} }).fullStream) {
      text += part.type === 'text-delta' ? part.text : '';
      failed ??= part.type === 'error' ? part.error : undefined;
    }
    if (failed) {
      throw failed;
    }
    return text;
  },
  'openai-agents': async (asked, advisor) => {
    const [runner, agent] = openAIAgents(asked, advisor);
    return (await runner.run(agent, 'hi')).finalOutput;
  },
  'openai-agents-streamed': async (asked, advisor) => {
    const [runner, agent] = openAIAgents(asked, advisor);
    const result = await runner.run(agent, 'hi', { stream: true });
    await result.completed;
    return result.finalOutput;
  },
};

const advisors = new Map();

async function played(asked) {
  const { host, key, url, token, timeout } = asked;
  if (!advisors.has(key)) {
    const warned = [];
    advisors.set(key, { warned, advisor: new Advisor({ url, token, timeout, warn: (text) => warned.push(text) }) });
  }
  const { warned, advisor } = advisors.get(key);
  try {
    return { said: await hosts[host](asked, advisor), warned: warned.splice(0) };
  } catch (error) {
    return { failed: `${error.name}: ${error.statusCode ?? error.status} ${error.message}`, warned: warned.splice(0) };
  }
}

const server = http.createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) {
    body += piece;
  }
  response.end(JSON.stringify(await played(JSON.parse(body))));
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
