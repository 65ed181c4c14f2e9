import { describe, expect, it } from 'vitest';
import { Codec } from '../codec.ts';
import { DecodeError, TooLargeError } from '../errors.ts';
import { endpointSliceKind } from './endpoint-slice.ts';
import { endpointsKind } from './endpoints.ts';
import type { Fields } from '../fields.ts';
import type { Kind } from '../kind.ts';
import { leaseKind } from './lease.ts';
import { namespaceKind } from './namespace.ts';
import { networkPolicyKind, networkPolicyWithTimesKind } from './network-policy.ts';
import { nodeKind } from './node.ts';
import { podIPsAnnotation, podKind, podOnNodeKind } from './pod.ts';
import { serviceKind } from './service.ts';

/** A hand-written message: pairs of a field number, and an integer, a text or another message. */
type Message = readonly (readonly [number: number, value: number | string | Message])[];

const map = (number: number, key: string, value: string) =>
  [
    number,
    [
      [1, key],
      [2, value],
    ],
  ] as const;

/** 2026-01-01. */
const created = [8, [[1, 1_767_225_600]]] as const;
const metadata = [[1, 'a'], [3, 'ns'], [5, 'u-1'], [6, '42'], created, map(11, 'l', '1'), map(12, 'n', '2')] as const;
const described = {
  name: 'a',
  namespace: 'ns',
  uid: 'u-1',
  resourceVersion: '42',
  creationTimestamp: '2026-01-01T00:00:00Z',
  labels: { l: '1' },
  annotations: { n: '2' },
};
const owner = [
  13,
  [
    [5, 'v1'],
    [1, 'Service'],
    [3, 'svc'],
    [4, 'u-2'],
    [6, 1],
    [7, 0],
  ],
] as const;
const ownerReferences = [
  { apiVersion: 'v1', kind: 'Service', name: 'svc', uid: 'u-2', controller: true, blockOwnerDeletion: false },
];
/** A field of a later version. */
const later = [99, 'later'] as const;

/** Each field of each table once, with its number in the kind's generated.proto, independent of the table. */
const samples: readonly { name: string; kind: Kind; message: Message; json: Record<string, unknown> }[] = [
  {
    name: 'a Service',
    kind: serviceKind,
    message: [
      [1, [...metadata, owner, [14, 'example.com/f']]],
      [
        2,
        [
          [
            1,
            [
              [1, 'http'],
              [2, 'TCP'],
              [3, 80],
              [
                4,
                [
                  [1, 1],
                  [2, 0],
                  [3, 'web'],
                ],
              ],
              [5, 30_080],
              [6, 'kubernetes.io/h2c'],
              later,
            ],
          ],
          [
            1,
            [
              [1, 'dns'],
              [2, 'UDP'],
              [3, 53],
              [
                4,
                [
                  [1, 0],
                  [2, 5353],
                  [3, ''],
                ],
              ],
            ],
          ],
          map(2, 'app', 'web'),
          [3, '10.96.0.1'],
          [4, 'NodePort'],
          [7, 'ClientIP'],
          later,
          [13, 1],
          [14, [[1, [[1, 600]]]]],
          [17, 'PreferDualStack'],
          [18, '10.96.0.1'],
          [18, 'fd00::1'],
          [19, 'IPv4'],
          [19, 'IPv6'],
          [22, 'Local'],
          [23, 'PreferClose'],
        ],
      ],
      [3, [[1, [[1, [[1, '192.0.2.1']]]]]]],
    ],
    json: {
      metadata: { ...described, ownerReferences, finalizers: ['example.com/f'], managedFields: [] },
      spec: {
        ports: [
          {
            name: 'http',
            protocol: 'TCP',
            port: 80,
            targetPort: 'web',
            nodePort: 30_080,
            appProtocol: 'kubernetes.io/h2c',
          },
          { name: 'dns', protocol: 'UDP', port: 53, targetPort: 5353 },
        ],
        selector: { app: 'web' },
        clusterIP: '10.96.0.1',
        type: 'NodePort',
        sessionAffinity: 'ClientIP',
        publishNotReadyAddresses: true,
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 600 } },
        ipFamilyPolicy: 'PreferDualStack',
        clusterIPs: ['10.96.0.1', 'fd00::1'],
        ipFamilies: ['IPv4', 'IPv6'],
        internalTrafficPolicy: 'Local',
        trafficDistribution: 'PreferClose',
        externalTrafficPolicy: 'Cluster',
      },
      status: { loadBalancer: {} },
    },
  },
  {
    name: 'a Service of type ExternalName',
    kind: serviceKind,
    message: [
      [1, metadata],
      [
        2,
        [
          [4, 'ExternalName'],
          [10, 'example.com'],
        ],
      ],
    ],
    json: { metadata: described, spec: { type: 'ExternalName', externalName: 'example.com' } },
  },
  {
    name: 'an EndpointSlice',
    kind: endpointSliceKind,
    message: [
      [1, [...metadata, owner, [14, 'example.com/f']]],
      [
        2,
        [
          [1, '192.0.2.1'],
          [
            2,
            [
              [1, 1],
              [2, 1],
              [3, 0],
            ],
          ],
          [3, 'web-0'],
          [
            4,
            [
              [1, 'Pod'],
              [2, 'ns'],
              [3, 'web-0'],
              [4, 'u-3'],
            ],
          ],
          [6, 'n1'],
          [7, 'z1'],
          [
            8,
            [
              [1, [[1, 'z1']]],
              [1, [[1, 'z2']]],
              [2, [[1, 'n1']]],
            ],
          ],
          later,
        ],
      ],
      [
        2,
        [
          [1, '192.0.2.2'],
          [2, [[1, 0]]],
        ],
      ],
      [
        2,
        [
          [1, '192.0.2.3'],
          [2, []],
        ],
      ],
      [
        3,
        [
          [1, 'http'],
          [2, 'TCP'],
          [3, 8080],
          [4, 'http'],
        ],
      ],
      [
        3,
        [
          [1, ''],
          [2, 'TCP'],
        ],
      ],
      [
        3,
        [
          [1, 'odd'],
          [2, 'UDP'],
          [3, -5],
        ],
      ],
      [4, 'IPv4'],
    ],
    json: {
      metadata: { ...described, ownerReferences, finalizers: ['example.com/f'], generateName: 'a-' },
      addressType: 'IPv4',
      endpoints: [
        {
          addresses: ['192.0.2.1'],
          conditions: { ready: true, serving: true, terminating: false },
          hostname: 'web-0',
          targetRef: { kind: 'Pod', namespace: 'ns', name: 'web-0', uid: 'u-3' },
          nodeName: 'n1',
          zone: 'z1',
          hints: { forZones: [{ name: 'z1' }, { name: 'z2' }], forNodes: [{ name: 'n1' }] },
        },
        { addresses: ['192.0.2.2'], conditions: { ready: false } },
        { addresses: ['192.0.2.3'], conditions: {} },
      ],
      ports: [
        { name: 'http', protocol: 'TCP', port: 8080, appProtocol: 'http' },
        { name: '', protocol: 'TCP' },
        { name: 'odd', protocol: 'UDP', port: -5 },
      ],
    },
  },
  {
    name: 'Endpoints',
    kind: endpointsKind,
    message: [
      [1, metadata],
      [
        2,
        [
          [
            1,
            [
              [1, '192.0.2.1'],
              [3, 'web-0'],
            ],
          ],
          [2, [[1, '192.0.2.2']]],
          [3, [[2, 80]]],
        ],
      ],
    ],
    json: {
      metadata: described,
      subsets: [
        {
          addresses: [{ ip: '192.0.2.1', hostname: 'web-0' }],
          notReadyAddresses: [{ ip: '192.0.2.2' }],
          ports: [{ port: 80 }],
        },
      ],
    },
  },
  {
    name: 'a Node',
    kind: nodeKind,
    message: [
      [1, metadata],
      [
        2,
        [
          [1, '10.4.0.0/24'],
          [3, 'cloud://1'],
          [7, '10.4.0.0/24'],
          [7, 'fd00:4::/64'],
        ],
      ],
      [
        3,
        [
          [
            5,
            [
              [1, 'InternalIP'],
              [2, '192.0.2.1'],
            ],
          ],
          [
            5,
            [
              [1, 'Hostname'],
              [2, 'n1'],
            ],
          ],
          [7, [[1, 'x']]],
        ],
      ],
    ],
    json: {
      metadata: described,
      spec: { podCIDR: '10.4.0.0/24', podCIDRs: ['10.4.0.0/24', 'fd00:4::/64'], providerID: 'cloud://1' },
      status: {
        addresses: [
          { type: 'InternalIP', address: '192.0.2.1' },
          { type: 'Hostname', address: 'n1' },
        ],
        nodeInfo: { machineID: 'x' },
      },
    },
  },
  {
    name: 'a Namespace',
    kind: namespaceKind,
    message: [
      [1, metadata],
      [2, [[1, 'kubernetes']]],
      [3, [[1, 'Active']]],
    ],
    json: { metadata: described, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } },
  },
  {
    name: 'a Pod with ports and owners',
    kind: podOnNodeKind,
    message: [
      [1, [...metadata, [9, [[1, 1_767_225_600]]], map(12, podIPsAnnotation, ''), owner]],
      [
        2,
        [
          [
            2,
            [
              [1, 'main'],
              [
                6,
                [
                  [1, 'http'],
                  [3, 8080],
                  [4, 'TCP'],
                ],
              ],
              [
                6,
                [
                  [2, 1],
                  [3, 53],
                  [4, 'UDP'],
                ],
              ],
            ],
          ],
          [11, 1],
          [
            20,
            [
              [
                6,
                [
                  [1, 'metrics'],
                  [3, 9090],
                  [4, 'TCP'],
                ],
              ],
              [24, 'Always'],
            ],
          ],
          [20, [[1, 'once']]],
        ],
      ],
      [
        3,
        [
          [1, 'Running'],
          [12, [[1, '192.0.2.1']]],
        ],
      ],
    ],
    json: {
      metadata: {
        ...described,
        deletionTimestamp: '2026-01-01T00:00:00Z',
        annotations: { n: '2', [podIPsAnnotation]: '' },
        ownerReferences,
      },
      spec: {
        hostNetwork: true,
        containers: [
          {
            name: 'main',
            ports: [
              { name: 'http', containerPort: 8080, protocol: 'TCP' },
              { hostPort: 1, containerPort: 53, protocol: 'UDP' },
            ],
          },
        ],
        initContainers: [
          { ports: [{ name: 'metrics', containerPort: 9090, protocol: 'TCP' }], restartPolicy: 'Always' },
          { name: 'once' },
        ],
      },
      status: { phase: 'Running', podIPs: [{ ip: '192.0.2.1' }] },
    },
  },
  {
    name: 'a NetworkPolicy',
    kind: networkPolicyKind,
    message: [
      [1, [...metadata, [7, 3], owner, [14, 'example.com/f']]],
      [
        2,
        [
          [
            1,
            [
              map(1, 'app', 'db'),
              [
                2,
                [
                  [1, 'tier'],
                  [2, 'In'],
                  [3, 'a'],
                  [3, 'b'],
                ],
              ],
            ],
          ],
          [
            2,
            [
              [
                1,
                [
                  [1, 'TCP'],
                  [
                    2,
                    [
                      [1, 0],
                      [2, 5432],
                    ],
                  ],
                  [3, 5440],
                ],
              ],
              [
                1,
                [
                  [1, 'UDP'],
                  [
                    2,
                    [
                      [1, 1],
                      [3, 'dns'],
                    ],
                  ],
                ],
              ],
              [1, [[1, 'SCTP']]],
              [
                2,
                [
                  [1, [map(1, 'app', 'web')]],
                  [
                    2,
                    [
                      [
                        2,
                        [
                          [1, 'k'],
                          [2, 'Exists'],
                        ],
                      ],
                    ],
                  ],
                ],
              ],
              [
                2,
                [
                  [
                    3,
                    [
                      [1, '192.0.2.0/24'],
                      [2, '192.0.2.1/32'],
                    ],
                  ],
                ],
              ],
            ],
          ],
          [
            3,
            [
              [2, [[2, [map(1, 'k', 'c2')]]]],
              [2, [[2, []]]],
            ],
          ],
          [4, 'Ingress'],
          [4, 'Egress'],
        ],
      ],
    ],
    json: {
      metadata: { ...described, generation: 3, ownerReferences, finalizers: ['example.com/f'] },
      spec: {
        podSelector: {
          matchLabels: { app: 'db' },
          matchExpressions: [{ key: 'tier', operator: 'In', values: ['a', 'b'] }],
        },
        ingress: [
          {
            ports: [
              { protocol: 'TCP', port: 5432, endPort: 5440 },
              { protocol: 'UDP', port: 'dns' },
              { protocol: 'SCTP' },
            ],
            from: [
              {
                podSelector: { matchLabels: { app: 'web' } },
                namespaceSelector: { matchExpressions: [{ key: 'k', operator: 'Exists' }] },
              },
              { ipBlock: { cidr: '192.0.2.0/24', except: ['192.0.2.1/32'] } },
            ],
          },
        ],
        egress: [{ to: [{ namespaceSelector: { matchLabels: { k: 'c2' } } }, { namespaceSelector: {} }] }],
        policyTypes: ['Ingress', 'Egress'],
      },
    },
  },
];

describe.each(samples)('$name', ({ kind, message, json }) => {
  const fromProtobuf = () => new Codec(kind).pageFromProtobuf(list(kind, message)).items[0];

  it('is the same from protobuf and from JSON, with unknown fields', () => {
    const version = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
    const fromJson = new Codec(kind).objectFromJson({ apiVersion: version, kind: kind.kind, ...json });
    expect(fromProtobuf()).toStrictEqual(fromJson);
  });

  it('has each value of its table', () => {
    expect(fromProtobuf()).toMatchObject(kept(json, kind.fields) as object);
  });
});

it('a NetworkPolicy has the times of its writes', () => {
  const entry: Message = [
    [1, 'kubectl'],
    [4, [[1, 1_767_225_600]]],
  ];
  const kind = networkPolicyWithTimesKind;
  const fromProtobuf = new Codec(kind).pageFromProtobuf(list(kind, [[1, [[17, entry]]]])).items[0];
  expect(fromProtobuf!.metadata.managedFields).toEqual([{ time: Date.UTC(2026, 0, 1) }]);
  const fromJson = new Codec(kind).objectFromJson({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { managedFields: [{ manager: 'kubectl', time: '2026-01-01T00:00:00Z' }] },
  });
  expect(fromJson.metadata.managedFields).toEqual(fromProtobuf!.metadata.managedFields);
});

it('a peer without a namespaceSelector is not one with an empty one', () => {
  const spec: Message = [
    [
      3,
      [
        [2, [[2, []]]],
        [2, [[1, []]]],
      ],
    ],
  ];
  const page = new Codec(networkPolicyKind).pageFromProtobuf(list(networkPolicyKind, [[2, spec]]));
  const [empty, absent] = page.items[0]!.spec.egress[0]!.to;
  expect([empty!.namespaceSelector, absent!.namespaceSelector]).toEqual([
    { matchLabels: {}, matchExpressions: [] },
    undefined,
  ]);
});

describe('a condition', () => {
  it.each([
    {
      name: 'that is not set',
      conditions: [],
      want: { ready: undefined, serving: undefined, terminating: undefined },
    },
    { name: 'that is false', conditions: [[1, 0]], want: { ready: false, serving: undefined, terminating: undefined } },
  ] as const)('$name is told apart', ({ conditions, want }) => {
    const message: Message = [
      [1, metadata],
      [
        2,
        [
          [1, '192.0.2.1'],
          [2, conditions],
        ],
      ],
      [4, 'IPv4'],
    ];
    const page = new Codec(endpointSliceKind).pageFromProtobuf(list(endpointSliceKind, message));
    expect(page.items[0]!.endpoints[0]!.conditions).toStrictEqual(want);
  });
});

describe('an object that has more than its table allows', () => {
  const long = 'x'.repeat(1025);
  const good: Message = [
    [
      1,
      [
        [1, 'good'],
        [3, 'ns'],
      ],
    ],
  ];
  const named: Message = [
    [1, 'large'],
    [3, 'ns'],
  ];
  const tooLarge = [
    { name: 'a Pod of 11 addresses', kind: podKind, message: [[3, Array<Message[number]>(11).fill([12, []])]] },
    { name: 'a Pod whose phase is a text of 1,025 bytes', kind: podKind, message: [[3, [[1, long]]]] },
    {
      name: 'a slice of 1,001 endpoints',
      kind: endpointSliceKind,
      message: Array<Message[number]>(1001).fill([2, []]),
    },
    {
      name: 'a slice of 101 addresses of one endpoint',
      kind: endpointSliceKind,
      message: [[2, Array<Message[number]>(101).fill([1, '192.0.2.1'])]],
    },
    {
      name: 'a slice of 1.4 MiB that would take 300 MB',
      kind: endpointSliceKind,
      message: Array<Message[number]>(700_000).fill([2, []]),
    },
    {
      name: 'a Service of 20,001 ports',
      kind: serviceKind,
      message: [[2, Array<Message[number]>(20_001).fill([1, []])]],
    },
    {
      name: 'a Node with a label whose key has 1,025 bytes',
      kind: nodeKind,
      metadata: [
        [
          11,
          [
            [1, long],
            [2, ''],
          ],
        ],
      ],
      message: [],
    },
    {
      name: 'a Node with an annotation of more than 256 KiB',
      kind: nodeKind,
      metadata: [
        [
          12,
          [
            [1, 'key'],
            [2, 'x'.repeat(256 * 1024 + 1)],
          ],
        ],
      ],
      message: [],
    },
    {
      name: 'a Node with 9 MB of annotations',
      kind: nodeKind,
      metadata: Array.from({ length: 36 }, (_, i): Message[number] => [
        12,
        [
          [1, `key-${i}`],
          [2, 'x'.repeat(256 * 1024)],
        ],
      ]),
      message: [],
    },
  ] satisfies readonly { name: string; kind: Kind; metadata?: Message; message: Message }[];

  it.each(tooLarge)(
    'such as $name is returned as too large, and its neighbours are read',
    ({ kind, metadata: more = [], message }) => {
      const page = new Codec<Kind>(kind).pageFromProtobuf(
        list(kind, good, [[1, [...named, ...more]], ...message], good),
      );
      expect(page.items.map(({ metadata }) => metadata.name)).toEqual(['good', 'good']);
      expect(page.tooLarge).toEqual([
        {
          metadata: expect.objectContaining({ name: 'large', namespace: 'ns' }),
          tooLarge: expect.stringMatching(/more than/),
        },
      ]);
    },
  );

  const json = (name: string, status: object) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, status });
  const tooLargeJson = [
    { name: '11 addresses', status: { podIPs: Array(11).fill({}) } },
    { name: 'a phase of 1,025 bytes', status: { phase: long } },
    { name: 'a phase of 1,026 bytes in 342 letters', status: { phase: '€'.repeat(342) } },
  ];

  it.each(tooLargeJson)(
    'such as a Pod in JSON of $name is returned as too large, and its neighbours are read',
    ({ status }) => {
      const items = [
        json('good', { phase: 'x'.repeat(1024) }),
        json('large', status),
        json('good', { podIPs: Array(10).fill({}) }),
      ];
      const page = new Codec(podKind).pageFromJson({
        apiVersion: 'v1',
        kind: 'PodList',
        metadata: { resourceVersion: '1' },
        items,
      });
      expect(page.items.map(({ metadata }) => metadata.name)).toEqual(['good', 'good']);
      expect(page.tooLarge.map(({ metadata }) => metadata.name)).toEqual(['large']);
    },
  );

  it.each(['ADDED', 'MODIFIED'])(
    'is an event of its own when it was %s, and an ordinary event when it was deleted',
    (type) => {
      const object = json('large', { podIPs: Array(11).fill({}) });
      const codec = new Codec(podKind);
      expect(codec.eventFromJson({ type, object })).toMatchObject({
        type: 'TOO_LARGE',
        object: { metadata: { name: 'large' } },
      });
      expect(codec.eventFromJson({ type: 'DELETED', object })).toMatchObject({
        type: 'DELETED',
        metadata: { name: 'large' },
      });
    },
  );

  it('must have a name', () => {
    const page = () => new Codec(podKind).pageFromProtobuf(list(podKind, [[1, [[1, long]]]]));
    expect(page).toThrow(DecodeError);
  });
});

it('a page of objects that would take more than 32 MiB together is too large', () => {
  const page = () =>
    new Codec(podKind).pageFromProtobuf(
      list(podKind, ...Array<Message>(70_000).fill([[3, Array<Message[number]>(10).fill([12, [[1, 'a']]])]])),
    );
  expect(page).toThrow(TooLargeError);
});

it('a page of objects that would take more than 20 times its size is too large', () => {
  const slice: Message = Array<Message[number]>(1_000).fill([2, [[3, '']]]);
  const page = (count: number) =>
    new Codec(endpointSliceKind).pageFromProtobuf(list(endpointSliceKind, ...Array<Message>(count).fill(slice)));
  expect(page(1).items).toHaveLength(1);
  expect(() => page(100)).toThrow(TooLargeError);
});

it('a field of any JSON has at most 10,000 values', () => {
  const read = (count: number) => {
    const metadata = { name: 'a', ownerReferences: Array.from({ length: count }, () => ({})) };
    const object = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata };
    return new Codec(leaseKind).eventFromJson({ type: 'ADDED', object }) as { object: object };
  };
  expect(read(10_000).object).not.toHaveProperty('tooLarge');
  expect(read(10_001).object).toHaveProperty('tooLarge', 'Lease.metadata.ownerReferences has more than 10000 values');
});

it('objects share empty values, which are frozen', () => {
  const [one, other] = new Codec(serviceKind).pageFromProtobuf(
    list(serviceKind, [[1, [[1, 'a']]]], [[1, [[1, 'b']]]]),
  ).items;
  expect(one!.spec).toBe(other!.spec);
  expect(one!.metadata.labels).toBe(other!.metadata.labels);
  expect(Object.isFrozen(one!.spec.sessionAffinityConfig.clientIP)).toBe(true);
});

it.each([
  { name: 'objects', kind: podKind, items: Array.from({ length: 450_000 }, () => ({ status: { phase: '' } })) },
  {
    name: 'objects that hold others',
    kind: endpointSliceKind,
    items: Array.from({ length: 450 }, () => ({ endpoints: Array.from({ length: 1_000 }, () => ({ hostname: '' })) })),
  },
])('a page of $name in JSON that would take more than 32 MiB is too large', ({ kind, items }) => {
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  const page = { apiVersion, kind: `${kind.kind}List`, metadata: { resourceVersion: '42' }, items };
  expect(() => new Codec<Kind>(kind).pageFromJson(page)).toThrow(TooLargeError);
});

/** The part of the JSON that a table has, without times. */
function kept(value: unknown, fields: Kind['fields'] | object): unknown {
  const named = Object.entries(value as object).filter(([name]) => name in fields);
  return Object.fromEntries(
    named.map(([name, inner]: [string, unknown]) => {
      const field = (fields as Fields)[name]!;
      if (field.type === 'time') return [name, Date.parse(inner as string)];
      if (field.type === 'stringMap' && field.only !== undefined)
        return [name, Object.fromEntries(Object.entries(inner as object).filter(([key]) => key === field.only))];
      if (!('fields' in field)) return [name, inner];
      return [name, Array.isArray(inner) ? inner.map((item) => kept(item, field.fields)) : kept(inner, field.fields)];
    }),
  );
}

/** A list, enveloped: `k8s\0`, then an Unknown of 1 typeMeta and 2 raw. */
function list({ group, version, kind }: Kind, ...items: readonly Message[]): Buffer {
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const typeMeta: Message = [
    [1, apiVersion],
    [2, `${kind}List`],
  ];
  return Buffer.concat([
    Buffer.from('k8s\0'),
    encode([
      [1, typeMeta],
      [2, [[1, [[2, '42']]], ...items.map((item): Message[number] => [2, item])]],
    ]),
  ]);
}

function encode(message: Message): Buffer {
  return Buffer.concat(
    message.map(([number, value]) => {
      if (typeof value === 'number') return Buffer.concat([varint(number << 3), varint(value)]);
      const bytes = typeof value === 'string' ? Buffer.from(value) : encode(value);
      return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
    }),
  );
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}

const deep: unknown = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);

it.each([
  { name: 'a deep list', value: deep },
  { name: 'an object with its own toString', value: { toString: 1 } },
  { name: 'undefined', value: undefined },
])('$name in the place of a type is garbage', ({ value }) => {
  const codec = new Codec(podKind);
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: {} };
  expect(() => codec.eventFromJson({ type: value, object })).toThrow(DecodeError);
  expect(() => codec.eventFromJson({ type: 'ADDED', object: { ...object, kind: value } })).toThrow(DecodeError);
  expect(() => codec.eventFromJson({ type: 'ERROR', object: { apiVersion: value } })).toThrow(DecodeError);
  expect(() => codec.pageFromJson({ apiVersion: 'v1', kind: value })).toThrow(DecodeError);
  expect(() => codec.objectFromJson({ apiVersion: value, kind: 'Pod' })).toThrow(DecodeError);
});
