import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import type { Component } from './protocol.ts';

/** Absolute paths of everything in a cluster's folder. */
export type Files = ReturnType<typeof filesIn>;

/** Names the files of a cluster in `dir`. */
export function filesIn(dir: string) {
  const at = (name: string) => join(dir, name);
  return {
    ca: at('ca.crt'),
    servingCertificate: at('apiserver.crt'),
    servingKey: at('apiserver.key'),
    kubeletClientCertificate: at('apiserver-kubelet-client.crt'),
    kubeletClientKey: at('apiserver-kubelet-client.key'),
    serviceAccountKey: at('service-account.key'),
    tokens: at('tokens.csv'),
    adminKubeconfig: at('admin.kubeconfig'),
    controllerKubeconfig: at('controller.kubeconfig'),
    auditPolicy: at('audit-policy.json'),
    auditLog: at('audit.log'),
    etcdSocket: at('etcd.sock'),
    etcdData: at('etcd'),
    log: (component: string) => at(`${component}.log`),
  };
}

type Paths = Extract<Binaries, { ok: true }>['paths'];

/** etcd behind a socket file, which takes no port from anybody, and without fsync: its data dies with the test. */
export function etcd(paths: Paths, files: Files): Component {
  return component('etcd', paths, files, {
    'data-dir': files.etcdData,
    'listen-client-urls': `unix://${files.etcdSocket}`,
    // Required, as host:port; nothing connects to it.
    'advertise-client-urls': 'http://127.0.0.1:2379',
    'listen-peer-urls': 'http://127.0.0.1:0',
    // The only member elects itself as soon as an election may begin.
    'heartbeat-interval': '10',
    'election-timeout': '100',
    'unsafe-no-fsync': 'true',
    'log-level': 'warn',
  });
}

/** How kube-apiserver differs from cluster to cluster. */
export type ApiserverOptions = {
  /** Where it listens. */
  readonly address: string;
  readonly port: number;
  readonly audit: boolean;
  /** Names without dashes to values; they win over ours. */
  readonly flags: Readonly<Record<string, string>>;
};

/** kube-apiserver with RBAC, tokens, client certificates and dual-stack Services. */
export function kubeApiserver(
  paths: Paths,
  files: Files,
  { address, port, audit, flags }: ApiserverOptions,
): Component {
  return component('kube-apiserver', paths, files, {
    'etcd-servers': `unix://${files.etcdSocket}`,
    'bind-address': address,
    'secure-port': String(port),
    'tls-cert-file': files.servingCertificate,
    'tls-private-key-file': files.servingKey,
    'client-ca-file': files.ca,
    'token-auth-file': files.tokens,
    'kubelet-client-certificate': files.kubeletClientCertificate,
    'kubelet-client-key': files.kubeletClientKey,
    // DNS doesn't have the names of nodes.
    'kubelet-preferred-address-types': 'InternalIP',
    'authorization-mode': 'RBAC',
    'service-account-issuer': 'https://kubernetes.default.svc.cluster.local',
    'service-account-key-file': files.serviceAccountKey,
    'service-account-signing-key-file': files.serviceAccountKey,
    // It would refuse pods until a controller has made their namespace's default account.
    'disable-admission-plugins': 'ServiceAccount',
    'service-cluster-ip-range': '10.96.0.0/16,fd00:10:96::/112',
    // No client reaches the server through the Service "kubernetes". Still, it gets an address that is reserved for
    // documentation: without one, the server looks for a default route, which may not exist.
    'endpoint-reconciler-type': 'none',
    'advertise-address': '192.0.2.1',
    // By default open watches keep a server alive for a minute after SIGTERM.
    'shutdown-watch-termination-grace-period': '1s',
    // One file: without a size, it is another one after 100 MB.
    ...(audit && {
      'audit-policy-file': files.auditPolicy,
      'audit-log-path': files.auditLog,
      'audit-log-maxsize': '1000000',
    }),
    ...flags,
  });
}

/** Controllers that run besides the three that every cluster has, and flags: names without dashes to values. */
export type ControllerManagerOptions = {
  readonly others: readonly string[];
  readonly flags: Readonly<Record<string, string>>;
};

/** kube-controller-manager with the three controllers that make Services, owners and namespaces work, and with `others`. */
export function kubeControllerManager(
  paths: Paths,
  files: Files,
  { others, flags }: ControllerManagerOptions,
): Component {
  return component('kube-controller-manager', paths, files, {
    kubeconfig: files.controllerKubeconfig,
    controllers: ['endpointslice-controller', 'garbage-collector-controller', 'namespace-controller', ...others].join(
      ',',
    ),
    'leader-elect': 'false',
    'secure-port': '0',
    // For those of `others` that make tokens of service accounts, and tell where they are good.
    'service-account-private-key-file': files.serviceAccountKey,
    'root-ca-file': files.ca,
    'kube-api-qps': '500',
    'kube-api-burst': '1000',
    ...flags,
  });
}

/** kube-scheduler, which assigns Pods to nodes. */
export function kubeScheduler(paths: Paths, files: Files): Component {
  return component('kube-scheduler', paths, files, {
    kubeconfig: files.controllerKubeconfig,
    'leader-elect': 'false',
    'secure-port': '0',
    'kube-api-qps': '500',
    'kube-api-burst': '1000',
  });
}

function component(name: keyof Paths, paths: Paths, files: Files, flags: Record<string, string>): Component {
  const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
  return { name, file: paths[name], args, log: files.log(name) };
}
