import { describe, expect, it } from 'vitest';
import { diffDevice } from './mesh/desired/diff/device.ts';
import { observedOf } from './mesh/local/observe.ts';
import { changesOf, exitCodeOf, orphanPlan, type Plan, type PlannedChange, planText, type RemotePlan } from './plan.ts';
import type { Decision } from './mesh/reconciler.ts';
import { key, observedDevice, observedLink, observedPeer, remoteSettings } from '../test/support/builders.ts';

const DEVICE = 'wireguard.c2';
const SUBNET = '10.4.0.0/16';
const FILE = '/keys/wireguard.c2.key';

const desired: Decision['desired'] = {
  name: DEVICE,
  alias: 'semaphore-wireguard c2',
  mtuBytes: 1420,
  listenPort: 51_820,
  publicKey: key(200),
  addresses: [],
  routes: [SUBNET],
  peers: [{ node: 'n1', publicKey: key(1), endpoint: '192.0.2.1:51820', allowedIps: ['10.4.1.0/24'] }],
};

/** A decision about an observation. */
function decision(
  observation: Partial<Decision['observation']>,
  more: Partial<Omit<Decision, 'observation'>> = {},
): Decision {
  const whole = { device: undefined, link: undefined, links: [], routes: [], ...observation };
  const wanted = more.desired ?? desired;
  const diff = diffDevice(observedOf(DEVICE, whole), wanted, {
    nowSeconds: 1_000,
    staleSeconds: 180,
    annotated: new Map(),
  });
  return {
    observation: whole,
    ownership: { kind: 'ours' },
    key: { file: FILE, from: 'file', publicKey: key(200) },
    desired: wanted,
    diff,
    skipped: [],
    diagnostics: [],
    announcement: undefined,
    ...more,
  };
}

const lines = (changes: readonly PlannedChange[]): readonly string[] =>
  changes.map(({ action, what, name, detail }) => `${action} ${what} ${name} ${detail}`.trim());

const settled = {
  device: observedDevice([observedPeer(key(1))]),
  link: observedLink(),
  routes: [{ destination: SUBNET, device: DEVICE, protocol: 115 }],
};
const withPeer = { ...desired, peers: [{ ...desired.peers![0]!, endpoint: '192.0.2.1:51820' }] };

describe('changesOf', () => {
  it('lists all changes of a new node, and never the private key', () => {
    const announcement = { 'c2.wireguard.semaphore.uw.io/pubKey': '(the new key)' };
    expect(
      lines(changesOf(decision({}, { ownership: { kind: 'absent' }, key: { file: FILE, from: 'new' }, announcement }))),
    ).toEqual([
      `create key ${FILE} a new one`,
      `create device ${DEVICE} port 51820, mtu 1420, up, alias "semaphore-wireguard c2"`,
      `create route ${SUBNET} through ${DEVICE}`,
      'create annotation c2.wireguard.semaphore.uw.io/pubKey (the new key)',
      `create peer ${key(1)} n1  192.0.2.1:51820  10.4.1.0/24`,
    ]);
  });

  it.each([
    { name: 'nothing if nothing differs', observation: settled, more: { desired: withPeer }, want: [] },
    {
      name: 'the adoption of a device whose key is not in a file',
      observation: {
        ...settled,
        link: observedLink({ alias: '' }),
        routes: [{ destination: SUBNET, device: DEVICE, protocol: 3 }],
      },
      more: { ownership: { kind: 'adopted' }, key: { file: FILE, from: 'device', publicKey: key(200) } } as const,
      want: [
        `create key ${FILE} the one that ${DEVICE} has`,
        `change device ${DEVICE} adopted, alias "semaphore-wireguard c2"`,
        `change route ${SUBNET} through ${DEVICE}, marked as ours`,
      ],
    },
    {
      name: 'changed and removed peers',
      observation: {
        ...settled,
        device: observedDevice([
          observedPeer(key(1), { allowedIps: [], hasPresharedKey: true, keepaliveSeconds: 0 }),
          observedPeer(key(2)),
        ]),
      },
      more: {},
      want: [
        `delete peer ${key(2)} no Node has its key`,
        `change peer ${key(1)} n1  10.4.1.0/24  keepalive 25 s  no preshared key`,
      ],
    },
    {
      name: 'addresses and routes',
      observation: {
        ...settled,
        link: observedLink({ addresses: [{ ip: '10.2.1.1', prefixLength: 24 }] }),
        routes: [{ destination: '10.5.0.0/16', device: DEVICE, protocol: 115 }],
      },
      more: { desired: { ...desired, addresses: ['10.2.1.0'] } },
      want: [
        `delete address 10.2.1.1/24 of ${DEVICE}`,
        `create address 10.2.1.0/32 of ${DEVICE}`,
        `delete route 10.5.0.0/16 through ${DEVICE}`,
        `create route ${SUBNET} through ${DEVICE}`,
      ],
    },
  ])('lists $name', ({ observation, more, want }) => {
    expect(lines(changesOf(decision(observation, more)))).toEqual(want);
  });
});

describe('a plan', () => {
  const remote: RemotePlan = {
    remote: 'c2',
    reached: true,
    failure: undefined,
    changes: [],
    retained: [],
    heldDeletions: 0,
    warnings: [],
    skipped: [],
  };
  const refusals = { refused: [], unknown: { count: 0, reasons: [] } };
  const plan: Plan = { orphans: [], unmarked: [], remotes: [remote], refusals };

  it('says that nothing has to change', () => {
    expect(planText(plan)).toBe('Nothing to change.\n\nc2: 0 skipped\n');
    expect(exitCodeOf(plan)).toBe(0);
  });

  it('has a text for people', () => {
    const changes = changesOf(decision({ ...settled, link: observedLink({ up: false }) }));
    const skipped = [{ node: 'n9', kind: 'problem', reason: 'bad-key', detail: 'its public key is invalid' } as const];
    const node = {
      links: [
        observedLink({ name: 'wireguard.c3', alias: 'semaphore-wireguard c3' }),
        observedLink({ name: 'wireguard.go', alias: '' }),
      ],
      devices: [observedDevice([], { name: 'wireguard.go' })],
    };
    const whole = {
      ...orphanPlan(node, [remoteSettings()]),
      remotes: [{ ...remote, changes, heldDeletions: 12, warnings: ['too long'], skipped }],
      refusals: { ...refusals, refused: [{ object: 'Node n1', words: 'not \u001b now' }] },
    };
    expect(planText(whole)).toBe(
      [
        'delete  device      wireguard.c3  it leads to c3, which has no device of this name in the config',
        `change  device      ${DEVICE}  up`,
        'retain  device      wireguard.go  it has neither our mark nor a remote in the config',
        '',
        'refuse! Node n1: "not \\u001b now"',
        '',
        'c2: 1 skipped',
        'held     12 deletions, until the next list',
        'warning  too long',
        'skip!    n9: its public key is invalid',
        '',
      ].join('\n'),
    );
  });

  it('says what stays of a remote that was not reached, and is incomplete', () => {
    const partial = {
      ...plan,
      remotes: [{ ...remote, reached: false, failure: 'list nodes: refused', retained: [key(1)] }],
    };
    expect(planText(partial)).toContain(
      [
        'Changes are unknown: c2 not reached.\n',
        'c2: not reached: list nodes: refused',
        'The peers of its Nodes stay as they are:',
        `retained ${key(1)}\n`,
      ].join('\n'),
    );
    expect(exitCodeOf(partial)).toBe(1);
  });
});
