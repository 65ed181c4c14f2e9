import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { clusterSetLabel } from '@kube-semaphore/network-policies';
import { endpointSlice, pod, service } from '@kube-semaphore/testkit';
import { digits } from '../load/names.ts';

/** What a change is of. In each remote, a Service, or the Pods that a NetworkPolicy names, have parts in one local thing; mirrors don't. */
export const subjects = ['mirror', 'global Service', 'import', 'companion'] as const;
export type Subject = (typeof subjects)[number];

export const NAMESPACE = 'shop';

const LABELS: Readonly<Record<Subject, Readonly<Record<string, string>>>> = {
  mirror: { 'bench.example/mirror': 'true' },
  'global Service': { 'bench.example/global': 'true' },
  import: {},
  companion: {},
};
export const selectors = { mirror: 'bench.example/mirror=true', global: 'bench.example/global=true' } as const;

const ENDPOINTS = 10;

/** An object with addresses, one of which each change replaces. */
export type Part = {
  readonly subject: Subject;
  /** Index of the remote that has it. */
  readonly remote: number;
  readonly name: string;
  readonly ips: string[];
};

/** A part before it has addresses, and how many it will have. */
export type Plan = Omit<Part, 'ips'> & { readonly ips: number };

export type ShopSize = {
  readonly remotes: number;
  /** Of each kind of Service, and of NetworkPolicies. */
  readonly services: number;
  /** Pods that each NetworkPolicy names, in all remotes together. */
  readonly pods: number;
};

/** Whatever the number of remotes is, there are as many mirrors, and as many addresses in the companions. */
export function plansFor({ remotes, services, pods }: ShopSize): readonly Plan[] {
  const apps = Array.from({ length: services }, (_, app) => digits(app, 3));
  const everywhere = Array.from({ length: remotes }, (_, remote) => remote);
  return [
    ...apps.map((app, i): Plan => ({
      subject: 'mirror',
      remote: i % remotes,
      name: `mirrored-${app}`,
      ips: ENDPOINTS,
    })),
    ...everywhere.flatMap((remote) =>
      apps.flatMap((app): Plan[] => [
        { subject: 'global Service', remote, name: `global-${app}`, ips: ENDPOINTS },
        { subject: 'import', remote, name: `exported-${app}`, ips: ENDPOINTS },
        ...Array.from({ length: Math.ceil(pods / remotes) }, (_, i): Plan => {
          return { subject: 'companion', remote, name: `pod-${app}-${digits(i, 4)}`, ips: 1 };
        }),
      ]),
    ),
  ];
}

/** The addresses of a remote have its index. */
export const MOST_REMOTES = 250;

/** The range of a remote's addresses: none of 10.0.0.0/8, where the embedded clusters have their Services. */
export const rangeOf = (remote: number): string => `11.${remote}.0.0/16`;

/** What the remotes have. */
export class Shop {
  readonly parts: readonly Part[];
  /** How many addresses each remote had so far. */
  readonly #given = new Map<number, number>();

  constructor(plans: readonly Plan[]) {
    this.parts = plans.map(({ ips, ...plan }) => {
      return { ...plan, ips: Array.from({ length: ips }, () => this.#nextAddress(plan.remote)) };
    });
  }

  /** All addresses of these subjects now. */
  addresses(of: readonly Subject[]): ReadonlySet<string> {
    return new Set(this.parts.filter(({ subject }) => of.includes(subject)).flatMap(({ ips }) => ips));
  }

  /** This number of parts of a subject, each as rarely as possible, spread over Services and remotes. */
  some(subject: Subject, count: number): readonly Part[] {
    const all = this.parts.filter((part) => part.subject === subject);
    // A step without a common factor with the number of parts visits each of them.
    const step = [7919, 104_729].find((prime) => all.length % prime !== 0) ?? 1;
    return Array.from({ length: count }, (_, i) => all[(i * step) % all.length]!);
  }

  /** Gives a part a new address for its oldest one. */
  replaceAddress({ remote, ips }: Part): string {
    const address = this.#nextAddress(remote);
    ips.shift();
    ips.push(address);
    return address;
  }

  #nextAddress(remote: number): string {
    const index = this.#given.get(remote) ?? 0;
    this.#given.set(remote, index + 1);
    return `11.${remote}.${index >> 8}.${index & 255}`;
  }
}

/** What is local of a part, and of all others like it: one Service, import or companion. */
export const thingOf = ({ subject, name }: Part): string => `${subject} ${name.split('-')[1]}`;

/** The objects of a part that exist from the start. */
export function objectsOf(part: Part): readonly KubeObject[] {
  const { subject, name } = part;
  if (subject === 'companion') return [podOf(part)];
  const own = [service({ namespace: NAMESPACE, name, labels: LABELS[subject] }), sliceOf(part)];
  return subject === 'import' ? [...own, exportOf(name)] : own;
}

/** The request that writes the present addresses of a part. */
export function writeOf(part: Part): {
  readonly method: 'PATCH' | 'PUT';
  readonly path: string;
  readonly body: object;
} {
  const { metadata, ...object } = part.subject === 'companion' ? podOf(part) : sliceOf(part);
  return part.subject === 'companion'
    ? {
        method: 'PATCH',
        path: `/api/v1/namespaces/${NAMESPACE}/pods/${metadata.name}/status`,
        body: { status: object['status'] },
      }
    : {
        method: 'PUT',
        path: `/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices/${metadata.name}`,
        body: { ...object, metadata },
      };
}

/** A NetworkPolicy of the local cluster that names the Pods of an app in every cluster. */
export function policyOf(app: number): KubeObject {
  const namespaceSelector = { matchExpressions: [{ key: clusterSetLabel, operator: 'Exists' }] };
  const podSelector = { matchLabels: { app: digits(app, 3) } };
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { namespace: NAMESPACE, name: `app-${digits(app, 3)}` },
    spec: { podSelector: {}, policyTypes: ['Ingress'], ingress: [{ from: [{ namespaceSelector, podSelector }] }] },
  };
}

function podOf({ name, ips }: Part): KubeObject {
  return pod({ namespace: NAMESPACE, name, labels: { app: name.split('-')[1]! }, ips, nodeName: 'node-1' });
}

function sliceOf({ subject, name, ips }: Part): KubeObject {
  return endpointSlice({
    namespace: NAMESPACE,
    name: `${name}-x1`,
    service: name,
    labels: LABELS[subject],
    endpoints: ips.map((address) => ({ addresses: [address], conditions: { ready: true } })),
  });
}

const exportOf = (name: string): KubeObject => ({
  apiVersion: 'multicluster.x-k8s.io/v1beta1',
  kind: 'ServiceExport',
  metadata: { namespace: NAMESPACE, name },
  spec: {},
});
