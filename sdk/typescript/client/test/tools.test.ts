import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';

import { Client, type Tool, type CallResult } from '../src/index.js';

test('what a run awaits is answered once, also where somebody else was faster', async () => {
  const situation = {
    status: 'waiting', stages: [],
    awaited: [
      { id: 'c1', name: 'get_weather', args: { city: 'Oslo' }, key: 'k1' }, { id: 'c2', name: 'broken', args: {}, key: 'k2' },
      { id: 'c3', name: 'not_ours', args: {}, key: 'k3' },
    ],
  };
  const given: CallResult[] = [];
  let declared: unknown;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => { body += piece.toString(); });
    request.on('end', () => {
      if (request.url?.endsWith('/events')) {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        response.end(given.length < 2 ? `event: situation\ndata: ${JSON.stringify(situation)}\n\n` : 'event: end\ndata: {}\n\n');
        return;
      }
      let status = 200;
      if (request.url?.endsWith('/tool-results')) {
        const result = (JSON.parse(body) as { results: CallResult[] }).results[0]!;
        given.push(result);
        status = result.callId === 'c2' ? 409 : 202;
      } else if (request.method === 'POST') {
        declared = (JSON.parse(body) as { tools: unknown }).tools;
      }
      response.writeHead(status, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ id: 'r1', serverNow: new Date().toISOString(), situation }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = new Client({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  const tools: Tool[] = [
    { name: 'get_weather', safety: 'read_only', run: ({ city }) => `22 degrees in ${String(city)}` },
    { name: 'broken', run: () => { throw new Error('no thermometer'); } },
  ];
  const { id } = await client.start({ prompt: 'hi', tools });
  for await (const item of client.followWithTools(id, tools)) {
    assert.ok('situation' in item);
  }
  server.close();
  assert.deepEqual(declared, [{ name: 'get_weather', safety: 'read_only' }, { name: 'broken' }]);
  assert.deepEqual(given.sort((a, b) => a.callId.localeCompare(b.callId)), [
    { callId: 'c1', text: '22 degrees in Oslo' }, { callId: 'c2', text: 'Error: no thermometer', isError: true },
  ]);
});

test('of a result that the gateway does not take the model is told', async () => {
  const awaited = [{ id: 'c1', name: 'get_weather', args: {}, key: 'k1' }];
  const given: CallResult[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => { body += piece.toString(); });
    request.on('end', () => {
      if (request.url?.endsWith('/events')) {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        response.end(given.length < 2 ? ': welcome\n\n' : 'event: end\ndata: {}\n\n');
        return;
      }
      if (request.url?.endsWith('/tool-results')) {
        given.push((JSON.parse(body) as { results: CallResult[] }).results[0]!);
      }
      response.writeHead(given.length === 1 ? 422 : 200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ id: 'r1', detail: 'too long', serverNow: new Date().toISOString(), situation: { status: 'waiting', stages: [], awaited } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = new Client({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  for await (const item of client.followWithTools('r1', [{ name: 'get_weather', run: () => 'mild' }])) {
    assert.fail(JSON.stringify(item));
  }
  server.close();
  assert.deepEqual(given, [{ callId: 'c1', text: 'mild' }, { callId: 'c1', text: 'its result cannot be given: too long', isError: true }]);
});
