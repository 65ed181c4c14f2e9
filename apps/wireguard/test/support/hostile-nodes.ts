import { endpointAnnotation, pubKeyAnnotation } from '../../src/names.ts';
import type { Dice } from '@kube-semaphore/fault-proxy';
import { mutateJson, node } from '@kube-semaphore/testkit';

/** What hostile Nodes could claim. The remote's pods are in 10.2.0.0/16 and fd00:2::/48. */
export type HostileOptions = {
  readonly ourKey: string;
  /** Blocks and addresses of the local cluster. */
  readonly local: readonly string[];
};

/** The JSON of each object. Some of it can't be decoded. */
export type HostileObjects = {
  readonly nodes: readonly Buffer[];
  readonly affinities: readonly Buffer[];
  readonly blocks: readonly Buffer[];
};

/** Objects of each kind. */
const COUNT = 300;

/** The number of keys and blocks that Nodes choose from: so that some conflict, and rounds differ. */
const POOL = 400;

const KEY = 'yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=';

const KEYS: readonly string[] = [
  '',
  'A',
  `${'A'.repeat(43)}=`,
  `${'A'.repeat(42)}E=`,
  `${'/'.repeat(42)}8=`,
  `${'/'.repeat(43)}=`,
  KEY,
  KEY.toUpperCase(),
  KEY.slice(0, -1),
  `${KEY}=`,
  ` ${KEY}`,
  `${KEY}\n`,
  `${KEY} remove`,
  KEY.replace('k=', 'l='),
  KEY.replace('+', '-'),
  Buffer.from(KEY, 'base64').toString('hex'),
  '/dev/null',
  '(none)',
  '__proto__',
  `${KEY},${KEY}`,
  `${KEY}\u0000`,
];

const ENDPOINTS: readonly string[] = [
  '',
  ':',
  ':51820',
  '198.51.100.1',
  '198.51.100.1:',
  '198.51.100.1:0',
  '198.51.100.1:65535',
  '198.51.100.1:65536',
  '198.51.100.1:051820',
  '198.51.100.1:51820 remove',
  '198.51.100.1:-1',
  '198.51.100.1:http',
  '198.51.100:51820',
  '3325256705:51820',
  '0xc6336401:51820',
  '0306.063.0144.01:51820',
  '198.51.100.01:51820',
  '[198.51.100.1]:51820',
  '198.51.100.1:51820\n',
  '\u0661.1.1.1:51820',
  'localhost:51820',
  'node.example.org:51820',
  '[2001:db8::1]:51820',
  '[2001:0DB8:0:0::0001]:51820',
  '[2001:db8:0:0:1:0:0:1]:51820',
  '[2001:db8::1:0:0:0:1]:51820',
  '[2001:db8::1%eth0]:51820',
  '2001:db8::1:51820',
  '[::ffff:198.51.100.1]:51820',
  '[::ffff:c633:6401]:51820',
  '[64:ff9b::198.51.100.1]:51820',
  '[::198.51.100.1]:51820',
  '[fe80::1%eth0]:51820',
  '[fe80::1]:51820',
  '[::1]:51820',
  '[::]:51820',
  '[ff02::1]:51820',
  '127.0.0.1:51820',
  '0.0.0.0:51820',
  '255.255.255.255:51820',
  '224.0.0.1:51820',
  '169.254.169.254:80',
  '240.0.0.1:51820',
  '10.2.1.10:51820',
  '[fd00:2:0:1::a]:51820',
  '(none)',
  'off',
];

const BLOCKS: readonly string[] = [
  '',
  '/',
  '0.0.0.0/0',
  '::/0',
  '0.0.0.0/1',
  '128.0.0.0/1',
  '10.2.0.0/16',
  '10.0.0.0/8',
  '10.2.0.0/15',
  'fd00:2::/48',
  'fd00::/8',
  'fd00:2::/47',
  '10.2.7.9/24',
  'fd00:2:0:7::9/64',
  '10.2.7.9',
  '10.2.7.9/32',
  '10.2.255.255/32',
  'fd00:2:0:7::9',
  'FD00:2:0:0007::/64',
  'fd00:2:0:0:8::/80',
  'fd00:2:0:0:1:0:0:1/128',
  'fd00:2::1:0:0:1/128',
  'fd00:2::10.2.1.1/128',
  'fd00:2::%eth0/64',
  '::ffff:10.2.7.0/120',
  '::ffff:10.2.7.1/128',
  '::10.2.7.0/120',
  '10.2.7.0/024',
  '10.2.7.0/+24',
  '10.2.7.0/24 ',
  ' 10.2.7.0/24',
  '10.2.7.0/33',
  '10.2.7.0/-1',
  '10.2.7.0/24,0.0.0.0/0',
  '+10.2.7.0/24',
  '-10.2.7.0/24',
  '10.2.7/24',
  '10.2.07.0/24',
  '0x0a.2.7.0/24',
  '167904000/24',
  '10.2.7.0/255.255.255.0',
  '10.2.7.0/24\u0000',
  '10.2.7.0/24\n',
  '10.2.7.0/24 peer',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '(none)',
  '__proto__',
];

/** Objects that the owner of a remote could write: valid ones, hostile ones, and mutations of both. */
export function hostileObjects(dice: Dice, options: HostileOptions): HostileObjects {
  const times = (make: (i: number) => Buffer): readonly Buffer[] => Array.from({ length: COUNT }, (_, i) => make(i));
  return {
    nodes: times((i) => hostileNode(i, dice, options)),
    affinities: times((i) => hostileAffinity(i, dice, options)),
    blocks: times((i) => hostileBlock(i, dice, options)),
  };
}

function hostileNode(i: number, dice: Dice, { ourKey, local }: HostileOptions): Buffer {
  const number = dice.integer(0, POOL - 1);
  const podCIDRs = dice.pick([
    ownBlocks(number),
    ownBlocks(number),
    [...ownBlocks(number), ...someOf(dice, [...BLOCKS, ...local])],
    someOf(dice, [...BLOCKS, ...local]),
  ]);
  const publicKey =
    dice.integer(0, 3) > 0 ? keyOf(number) : dice.pick([...KEYS, ourKey, keyOf(dice.integer(0, POOL - 1))]);
  const own = dice.pick([
    `198.51.100.${dice.integer(1, 254)}:51820`,
    `[2001:db8::${number.toString(16)}]:${dice.integer(1, 65_535)}`,
  ]);
  const localEndpoints = local.map((ip) => (ip.includes(':') ? `[${ip}]:51820` : `${ip}:51820`));
  const endpoint = dice.integer(0, 3) > 0 ? own : dice.pick([...ENDPOINTS, ...localEndpoints]);
  const valid = node({
    name: `n${i}`,
    annotations: { [pubKeyAnnotation('c1')]: publicKey, [endpointAnnotation('c1')]: endpoint },
    podCIDRs,
  });
  const creationTimestamp = dice.pick([null, '2020-01-01T00:00:00Z', '2030-01-01T00:00:00Z']);
  return oftenMutated(dice, {
    ...valid,
    metadata: { ...valid.metadata, uid: `u${i}`, resourceVersion: '1', creationTimestamp },
  });
}

function hostileAffinity(i: number, dice: Dice, { local }: HostileOptions): Buffer {
  const spec = {
    cidr: calicoBlock(dice, local),
    node: nodeName(dice),
    state: dice.pick(['confirmed', 'confirmed', 'pending']),
    type: 'host',
    deleted: 'false',
  };
  return oftenMutated(dice, calicoObject('BlockAffinity', i, spec));
}

function hostileBlock(i: number, dice: Dice, { local }: HostileOptions): Buffer {
  const spec = {
    cidr: calicoBlock(dice, local),
    affinity: dice.pick([`host:${nodeName(dice)}`, '', 'virtual:x']),
    allocations: Array.from({ length: dice.integer(0, 64) }, () => dice.pick([null, 0, 1, 2, -1, 0.5])),
    attributes: [nodeName(dice), nodeName(dice)].map((name) => ({ secondary: { node: name } })),
  };
  return oftenMutated(dice, calicoObject('IPAMBlock', i, spec));
}

const calicoObject = (kind: string, i: number, spec: object): object => ({
  apiVersion: 'crd.projectcalico.org/v1',
  kind,
  metadata: { name: `b${i}`, uid: `u${i}`, resourceVersion: '1' },
  spec,
});

function calicoBlock(dice: Dice, local: readonly string[]): string {
  const own = dice.pick([
    `10.2.${dice.integer(0, 255)}.${64 * dice.integer(0, 3)}/26`,
    `fd00:2:0:${dice.integer(0, 99)}::/122`,
  ]);
  return dice.integer(0, 4) > 0 ? own : dice.pick([...BLOCKS, ...local]);
}

const nodeName = (dice: Dice): string => `n${dice.integer(0, COUNT - 1)}`;

const oftenMutated = (dice: Dice, object: object): Buffer => {
  const json = Buffer.from(JSON.stringify(object));
  return dice.integer(0, 2) > 0 ? json : mutateJson(json, dice, 0);
};

const ownBlocks = (number: number): readonly string[] => [
  ...(number < 256 ? [`10.2.${number}.0/24`] : []),
  `fd00:2:0:${number.toString(16)}::/64`,
];

const someOf = (dice: Dice, values: readonly string[]): readonly string[] =>
  Array.from({ length: dice.integer(0, 4) }, () => dice.pick(values));

/** A public key without a known private key. */
const keyOf = (number: number): string => Buffer.alloc(32, `key ${number} `).toString('base64');
