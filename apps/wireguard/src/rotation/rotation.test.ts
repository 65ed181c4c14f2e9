import { readdir } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KILLED, type SimulatedNode, TwoNodes } from '../../test/rotation/two-nodes.ts';
import { readKeys, requestRotation } from './local/keys.ts';

let mesh: TwoNodes;
let a: SimulatedNode;
let b: SimulatedNode;
beforeEach(async () => {
  mesh = await TwoNodes.start();
  [a, b] = mesh.nodes;
});
afterEach(() => mesh.stop());

const ask = ({ folder }: SimulatedNode) => requestRotation({ folder, remote: 'other' });
const keyOf = ({ tools }: SimulatedNode): string | undefined => tools.byName.get('wireguard.other')?.publicKey;

/** Rounds until nothing rotates; three keepalives pass between some of them. */
async function toEnd(): Promise<void> {
  for (let i = 0; i < 120; i++) {
    const turns = await mesh.round();
    if (i > 3 && turns.every((turn) => turn?.isQuiet === true)) return;
    if (i % 3 === 2) for (let k = 0; k < 4; k++) mesh.wait(20);
  }
  throw new Error('it does not end');
}

/** What each has when nothing rotates. */
async function expectHome(): Promise<void> {
  for (const { tools, folder, node } of mesh.nodes) {
    const { publicKey, peers } = tools.byName.get('wireguard.other')!;
    expect([...tools.byName.keys()]).toEqual(['wireguard.other']);
    expect(peers).toMatchObject([{ keepaliveSeconds: 25 }]);
    expect(tools.table).toEqual([{ destination: '10.0.0.0/8', device: 'wireguard.other', protocol: 115 }]);
    expect(tools.linksByName.get('wireguard.other')?.addresses).toEqual([
      { ip: '169.254.115.1', prefixLength: 32, isSilent: true },
    ]);
    expect((await readdir(folder)).filter((name) => name.endsWith('.next'))).toEqual([]);
    expect(node.annotations).toMatchObject({
      'other.wireguard.semaphore.uw.io/pubKey': publicKey,
      'other.wireguard.semaphore.uw.io/endpoint': expect.stringMatching(/:51820$/),
      'other.wireguard.semaphore.uw.io/planes': '51820,51920',
    });
  }
}

describe('a rotation', () => {
  it('is not there before a user asks for one', async () => {
    const writes = () => mesh.nodes.map(({ tools }) => tools.changes.length);
    const before = writes();
    await mesh.round();
    expect(writes()).toEqual(before);
    await expectHome();
  });

  it.each([
    ['of one node', () => [a]],
    ['of both at once', () => [a, b]],
  ])('%s loses nothing, and all is as before, with other keys', async (_, asked) => {
    const before = asked().map(keyOf);
    await Promise.all(asked().map(ask));
    await toEnd();
    expect([...mesh.lost]).toEqual([]);
    await expectHome();
    expect(
      asked()
        .map(keyOf)
        .filter((key) => before.includes(key)),
    ).toEqual([]);
  });

  it.each([1, 2, 3, 4])('goes on after kills at a third of all changes, and loses nothing: way %i', async (seed) => {
    const before = mesh.nodes.map(keyOf);
    await Promise.all(mesh.nodes.map(ask));
    // Not at every third change: an action of three changes would never end.
    let random = seed;
    let kills = 0;
    for (const { tools } of mesh.nodes) {
      const check = tools.beforeChange;
      tools.beforeChange = (verb) => {
        check(verb);
        random = (random * 16_807) % 2_147_483_647;
        if (random % 3 !== 0) return;
        kills++;
        throw new Error(KILLED);
      };
    }
    await toEnd();
    expect(kills).toBeGreaterThan(5);
    expect([...mesh.lost]).toEqual([]);
    await expectHome();
    expect(mesh.nodes.map(keyOf).filter((key) => before.includes(key))).toEqual([]);
  });

  it('waits while its API server does not take the announcement', async () => {
    await ask(a);
    mesh.silenced.add(a);
    for (let i = 0; i < 5; i++)
      expect(await mesh.turn(a)).toMatchObject({ isQuiet: false, error: new Error('no API server') });
    expect(a.node.annotations).toMatchObject({ 'other.wireguard.semaphore.uw.io/pubKey': keyOf(a) });
    mesh.silenced.clear();
    await toEnd();
    expect([...mesh.lost]).toEqual([]);
    await expectHome();
  });

  it('lets packets pass a strict check of their way back', async () => {
    for (const { tools } of mesh.nodes) tools.filters.set('all', 1).set('default', 1).set('wireguard.other', 1);
    await ask(a);
    for (let i = 0; i < 3; i++) await mesh.round();
    for (const { tools } of mesh.nodes)
      for (const name of ['wireguard.other', 'wireguard.other.1']) {
        expect(await tools.reversePathFilter(name)).toBe(2);
        expect(tools.linksByName.get(name)?.addresses).toEqual([
          { ip: '169.254.115.1', prefixLength: 32, isSilent: true },
        ]);
      }
    await toEnd();
    await expectHome();
  });
});

describe('a Node that never ends its rotation', () => {
  const wait = async (minutes: number): Promise<void> => {
    for (let i = 0; i < minutes; i++) {
      mesh.wait(60);
      await mesh.turn(a);
    }
  };

  it('is a laggard after ten minutes, and keeps our key no longer', async () => {
    await ask(b);
    await mesh.round();
    expect(await mesh.status(a)).toMatchObject({ plane: 0, since: null, rotating: ['b'], laggards: [], late: false });
    // From now on, only we act.
    await ask(a);
    const before = keyOf(a);
    await wait(9);
    expect((await readKeys({ folder: a.folder, remote: 'other' }))?.next).toBeUndefined();
    await wait(2);
    expect(await mesh.status(a)).toMatchObject({
      since: expect.any(String),
      rotating: ['b'],
      laggards: ['b'],
      late: true,
    });
    await wait(12);
    expect(keyOf(a)).not.toBe(before);
    expect(await mesh.status(a)).toMatchObject({ plane: 0, since: null, laggards: ['b'] });
  });
});

describe('a clock that is set', () => {
  const DAY_SECONDS = 86_400;
  const keys = () => readKeys({ folder: a.folder, remote: 'other' });

  it.each([DAY_SECONDS, -DAY_SECONDS])('by %i s in a rotation changes nothing of its ten minutes', async (seconds) => {
    const before = keyOf(a);
    await ask(a);
    // The other node doesn't follow.
    await mesh.turn(a);
    mesh.wrongBySeconds = seconds;
    mesh.wait(540);
    await mesh.turn(a);
    expect((await keys())?.next).toBeDefined();
    mesh.wait(70);
    await mesh.turn(a);
    expect((await keys())?.next).toBeUndefined();
    expect(keyOf(a)).not.toBe(before);
  });

  it.each([DAY_SECONDS, -DAY_SECONDS])('by %i s names a Node when it is late, and not before', async (seconds) => {
    await ask(b);
    await mesh.round();
    await mesh.turn(a);
    mesh.wrongBySeconds = seconds;
    mesh.wait(540);
    expect(await mesh.status(a)).toMatchObject({ rotating: ['b'], laggards: [] });
    mesh.wait(70);
    expect(await mesh.status(a)).toMatchObject({ rotating: ['b'], laggards: ['b'] });
  });
});

describe('a user who waits for all', () => {
  it('has no commit without them, until it is asked for', async () => {
    const place = { folder: a.folder, remote: 'other' };
    await requestRotation(place, { waitsForAll: true });
    for (let i = 0; i < 20; i++) {
      mesh.wait(60);
      await mesh.turn(a);
    }
    const next = (await readKeys(place))!.next!;
    expect(await mesh.status(a)).toMatchObject({ laggards: ['b'], late: true });
    await requestRotation(place, { atMs: next.writtenMs - 1 });
    for (let i = 0; i < 3; i++) await mesh.turn(a);
    expect(keyOf(a)).toBe(next.publicKey);
    expect((await readKeys(place))!.next).toBeUndefined();
  });
});
