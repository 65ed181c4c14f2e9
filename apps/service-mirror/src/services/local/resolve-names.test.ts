import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { type Answer, decode, encode, type Packet } from 'dns-packet';
import { expect, it, onTestFinished } from 'vitest';
import { resolveNames } from './resolve-names.ts';

/** Longer than any pause of a busy machine. */
const LONG_MS = 60_000;

const SERVFAIL = 2;
const NXDOMAIN = 3;
const REFUSED = 5;

/** What the server says of each name; nothing about others. */
const says: Readonly<Record<string, { readonly rcode?: number; readonly answers?: readonly Answer[] }>> = {
  'web.shop.svc.cluster.c2': { answers: [{ name: 'web.shop.svc.cluster.c2', type: 'A', data: '10.96.0.3' }] },
  'six.shop.svc.cluster.c2': { answers: [{ name: 'six.shop.svc.cluster.c2', type: 'AAAA', data: 'fd00::3' }] },
  'none.shop.svc.cluster.c2': {},
  'no.shop.svc.cluster.c2': { rcode: NXDOMAIN },
  'fail.shop.svc.cluster.c2': { rcode: SERVFAIL },
  'refused.shop.svc.cluster.c2': { rcode: REFUSED },
};

/** A DNS server, until the test ends, and the queries that it got. */
async function startServer(): Promise<{ resolver: Resolver; queries: string[] }> {
  const queries: string[] = [];
  const socket = createSocket('udp4', (message, { port, address }) => {
    const { id, questions: [question] = [] } = decode(message);
    if (question === undefined) return;
    queries.push(`${question.name} ${question.type}`);
    const said = says[question.name];
    if (said === undefined) return;
    const { rcode = 0, answers = [] } = said;
    const matching = answers.filter(({ type }) => type === question.type);
    const packet: Packet = { type: 'response', id: id!, flags: rcode, questions: [question], answers: matching };
    socket.send(encode(packet), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  const resolver = new Resolver({ timeout: LONG_MS, tries: 1 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return { resolver, queries };
}

const asked = (name: string, address = '10.96.0.3') => ({
  remote: 'c2',
  name: `${name}.shop.svc.cluster.c2`,
  address,
});

it('tells what DNS says of each name, by the family of its address', async () => {
  const { resolver, queries } = await startServer();
  const names = [
    asked('web'),
    asked('six', 'fd00::3'),
    ...['none', 'no', 'fail', 'refused'].map((name) => asked(name)),
  ];
  expect(await resolveNames(names, { resolver, timeoutMs: LONG_MS })).toEqual([
    { ...names[0], answers: ['10.96.0.3'] },
    { ...names[1], answers: ['fd00::3'] },
    ...['ENODATA', 'ENOTFOUND', 'ESERVFAIL', 'EREFUSED'].map((error, i) => ({ ...names[i + 2], error })),
  ]);
  // As they are, without a domain of a search list.
  expect(new Set(queries)).toEqual(
    new Set(names.map(({ name }) => `${name} ${name.startsWith('six') ? 'AAAA' : 'A'}`)),
  );
});

it('waits no longer than it should, even if the resolver would', async () => {
  const { resolver } = await startServer();
  const names = [asked('silent'), asked('quiet')];
  expect(await resolveNames(names, { resolver, timeoutMs: 10 })).toEqual(
    names.map((name) => ({ ...name, error: 'ETIMEOUT' })),
  );
});

it('asks again each time, as answers change', async () => {
  const { resolver, queries } = await startServer();
  await resolveNames([asked('web')], { resolver, timeoutMs: LONG_MS });
  const before = queries.length;
  await resolveNames([asked('web')], { resolver, timeoutMs: LONG_MS });
  expect(queries.length).toBeGreaterThan(before);
});
