import { createServer } from 'node:https';
import { certificate, startListening } from './api-server.ts';
import { policyPage } from './pages.ts';

/**
 * - `pages`: the first list always has one more page
 * - `bytes`: it has 33 MiB
 * - `slow`: it comes by a byte a second
 * - `crowd`: hundreds of Pods are ours, and don't report their status
 * - `lies`: whatever is asked for exists, with texts that steer a terminal, and with Pods of a tenant
 * - `refusals`: it refuses each request, in such words
 */
export type Hostility = 'pages' | 'bytes' | 'slow' | 'crowd' | 'lies' | 'refusals';

/** Clears a screen, writes to the clipboard, reverses and hides text, moves up, and begins a line. */
const STEERING = 'x\u001b[2J\u001b]52;c;cm0=\u0007\u202e\u2066\u200b\u009b1A\b\u0000\r\nFORGED: all is fine';

/** How many Pods are in a crowd. */
export const CROWD = 400;

/** What a hostile server was asked. */
export type Asked = { readonly url: string; readonly paths: readonly string[] };

type Request = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Whether it asks for a page of the list that is endless. */
  readonly isChosen: boolean;
};

/**
 * Starts an API server that is hostile, until the test ends.
 *
 * @param plural of the list that is endless or slow, of which such a server has no other
 * @param onAnswer called before each answer
 */
export async function startHostileServer(
  hostility: Hostility,
  { plural, onAnswer = () => undefined }: { readonly plural: string; readonly onAnswer?: () => void },
): Promise<Asked> {
  const paths: string[] = [];
  let chosen: string | undefined;
  const server = createServer(certificate, ({ url = '', method = '' }, response) => {
    const { pathname: path, searchParams: query } = new URL(url, 'http://x');
    paths.push(path);
    onAnswer();
    const list =
      path.endsWith(`/${plural}`) && query.has('limit') ? `${path}?${query.get('labelSelector')}` : undefined;
    // One is enough: many at once would keep a busy machine longer than the timeout of a request.
    const isFirst = list !== undefined && chosen === undefined;
    chosen ??= list;
    if (isFirst && hostility === 'slow') {
      const timer = setInterval(() => response.write(' '), 1_000);
      response.on('close', () => clearInterval(timer));
      return;
    }
    if (isFirst && hostility === 'bytes') {
      response.end(HUGE);
      return;
    }
    const isChosen = list !== undefined && list === chosen;
    const answer = answers[hostility]({ method, path, query, isChosen });
    response.writeHead(answer === undefined ? 404 : 'code' in answer ? (answer.code as number) : 200);
    response.end(JSON.stringify(answer ?? { kind: 'Status', code: 404, message: 'there is no such object' }));
  });
  return { url: `https://127.0.0.1:${await startListening(server)}`, paths };
}

const HUGE = Buffer.alloc(33 * 1024 * 1024, ' ');

const nothing = (): undefined => undefined;

/** The answer of each; undefined: there is no such object. */
const answers: Readonly<Record<Hostility, (request: Request) => object | undefined>> = {
  bytes: nothing,
  slow: nothing,
  refusals: () => ({ kind: 'Status', code: 403, message: STEERING }),
  pages({ path, query, isChosen }) {
    if (!isChosen) return undefined;
    const page = Number(query.get('continue') ?? '0');
    const metadata = { name: `object-${page}`, namespace: 'kube-system', uid: `${page}` };
    return listOf(path, [{ metadata }], `${page + 1}`);
  },
  crowd({ path }) {
    if (path !== '/api/v1/pods') return undefined;
    const names = Array.from({ length: CROWD }, (_, i) => `policy-${i}`);
    return listOf(
      path,
      names.map((name) => podOf({ name, namespace: 'kube-system' })),
    );
  },
  lies({ method, path }) {
    const found = { ...kindOf(path.replace(/\/[^/]+$/, '')), ...podOf({ name: STEERING, namespace: 'kube-system' }) };
    if (method !== 'GET') return { ...found, status: { allowed: false, reason: STEERING } };
    if (path === '/version') return { major: '1', minor: '34', gitVersion: STEERING };
    if (path === '/apis') return { groups: [STEERING, ...GROUPS].map((name) => ({ name })) };
    if (path.endsWith('-caller/log'))
      return [{ small: STEERING, full: STEERING, latencyMs: null, bytesPerSecond: null }];
    if (path.endsWith('/log') || path.endsWith('/metrics')) return { [STEERING]: STEERING };
    if (path.endsWith('/proxy/status'))
      return {
        ...(JSON.parse(lyingPage()) as object),
        names: [{ remote: STEERING, name: STEERING, address: STEERING, error: STEERING }],
      };
    if (kindOf(path).kind !== undefined)
      return listOf(path, [
        podOf({ name: 'real', namespace: 'kube-system' }),
        podOf({ name: STEERING, namespace: 'kube-system' }),
        podOf({ name: 'false', namespace: 'tenant' }),
        podOf({ name: STEERING, namespace: 'tenant' }),
      ]);
    const phase = path.endsWith('-caller') ? 'Succeeded' : 'Running';
    return { ...found, status: { ...found.status, phase } };
  },
};

const GROUPS = ['multicluster.x-k8s.io', 'crd.projectcalico.org', 'policy.networking.k8s.io', 'networking.k8s.io'];

const lyingPage = (): string =>
  policyPage({
    name: STEERING,
    up: false,
    objects: { [STEERING]: 1 },
    lastError: { time: STEERING, message: STEERING },
    skipped: [{ kind: 'problem', reason: STEERING, count: 1, example: STEERING }],
    config: { allowedPodCIDRs: [STEERING], servicePrefix: STEERING },
  });

/** A Pod of an app, which also has what other kinds have. */
const podOf = ({ name, namespace }: { readonly name: string; readonly namespace: string }) => ({
  metadata: {
    name,
    namespace,
    uid: 'u',
    resourceVersion: '1',
    labels: { app: 'semaphore-policy', note: STEERING, 'multicluster.kubernetes.io/service-name': STEERING },
    annotations: { 'mirror-svc-source': `c1/${STEERING}/web`, 'global-svc-source': STEERING },
  },
  spec: {
    nodeName: STEERING,
    containers: [{ name: STEERING, image: STEERING, ports: [{ name: 'http', containerPort: 8080 }] }],
    type: 'ClusterIP',
    podCIDR: STEERING,
    podCIDRs: [STEERING],
    cidr: STEERING,
    selector: { [STEERING]: STEERING },
    template: { spec: { serviceAccountName: STEERING } },
  },
  status: {
    podIPs: [{ ip: '10.4.0.1' }, { ip: STEERING }],
    conditions: [{ type: 'Ready', status: 'True', message: STEERING }],
  },
  data: { Corefile: STEERING },
});

const KINDS = [
  'ClusterRoleBinding',
  'DaemonSet',
  'Deployment',
  'EndpointSlice',
  'GlobalNetworkPolicy',
  'GlobalNetworkSet',
  'IPPool',
  'Namespace',
  'NetworkPolicy',
  'Node',
  'Pod',
  'Service',
  'ServiceExport',
  'ServiceImport',
];

/** The version and kind of the objects of a list. */
function kindOf(path: string): { readonly apiVersion: string | undefined; readonly kind: string | undefined } {
  const [, core, group, plural] = /^\/(?:api\/(v1)|apis\/([^/]+\/[^/]+))\/(?:.*\/)?([^/]+)$/.exec(path) ?? [];
  const kind = KINDS.find((each) => `${each.toLowerCase().replace(/y$/, 'ie')}s` === plural);
  return { apiVersion: core ?? group, kind };
}

function listOf(path: string, items: readonly object[], next = ''): object {
  const { apiVersion, kind } = kindOf(path);
  return { apiVersion, kind: `${kind}List`, metadata: { resourceVersion: '1', continue: next }, items };
}
