// Real: kubectl renders the manifests.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { beforeAll, describe, expect, it } from 'vitest';
import { programs } from '../support/programs.ts';
import { choices, deploy, render } from '../support/render.ts';
import { type Container, only, specOf, type Template, type WorkloadSpec } from '../support/workload.ts';

const { version } = JSON.parse(readFileSync(join(deploy, '../package.json'), 'utf8')) as { readonly version: string };

/** What others find objects by. */
const labelsOf = (name: string) => ({
  'app.kubernetes.io/name': name,
  'app.kubernetes.io/instance': name,
  'app.kubernetes.io/version': version,
  'app.kubernetes.io/part-of': 'kube-semaphore',
});

it.each(choices.filter(({ folder }) => !folder.startsWith('overlays/')))(
  'labels all objects of $folder with $components',
  async (choice) => {
    const name = `semaphore-${choice.folder.split('/')[0]}`;
    for (const { metadata } of await render(choice)) expect(metadata.labels).toMatchObject(labelsOf(name));
  },
);

/** The variables of a container on the Node n1. */
const variablesOf = ({ env = [] }: Container): Record<string, string> =>
  Object.fromEntries(
    env.map(({ name, value, valueFrom }) => [
      name,
      valueFrom?.fieldRef.fieldPath === 'spec.nodeName' ? 'n1' : (value ?? ''),
    ]),
  );

describe.each(programs)('the workload of $name', ({ name, base, kind, configVariable, variables, run }) => {
  let objects: readonly KubeObject[];
  let spec: WorkloadSpec;
  let template: Template;
  let container: Container;
  beforeAll(async () => {
    objects = await render({ folder: base });
    spec = specOf(only(objects, kind));
    template = spec.template;
    [container] = template.spec.containers;
  });

  it('has its name, and so have container, account and image, which has this version', () => {
    expect(only(objects, kind).metadata.name).toBe(name);
    expect(template.spec.serviceAccountName).toBe(name);
    expect(container).toMatchObject({ name, image: `${name}:${version}` });
    expect(container.command).toBeUndefined();
  });

  it('has only flags and variables that the program knows', async () => {
    await run(container.args ?? [], variablesOf(container));
    for (const variable of Object.keys(variablesOf(container))) expect(variables).toContain(variable);
  });

  it('mounts the config at the path that the program reads', () => {
    const { mountPath } = container.volumeMounts.find((mount) => mount.name === 'config') ?? {};
    expect(variablesOf(container)[configVariable]).toBe(`${mountPath}/config.json`);
    // The ConfigMap of policy has another name than its Lease: kustomize would mix them up.
    const configMap = { name: name === 'semaphore-policy' ? `${name}-config` : name };
    expect(template.spec.volumes).toContainEqual({ name: 'config', configMap });
  });

  it('is probed and scraped on its port', async () => {
    const { listenAddress } = await run(container.args ?? [], variablesOf(container));
    expect(listenAddress.host).toBe('');
    expect(container.ports).toEqual([{ name: 'http', containerPort: listenAddress.port }]);
    expect(container.livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'http' });
    expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http' });
    expect(template.metadata.annotations).toEqual({
      'prometheus.io/scrape': 'true',
      'prometheus.io/path': '/metrics',
      'prometheus.io/port': String(listenAddress.port),
    });
  });

  it('mounts its token only into its own Pods', () => {
    expect(only(objects, 'ServiceAccount')).toMatchObject({ metadata: { name }, automountServiceAccountToken: false });
    expect(template.spec['automountServiceAccountToken']).toBe(true);
  });

  it('has an account that a ClusterRoleBinding with our label names, so that semaphore finds it after a move', () => {
    const labels = { 'semaphore.uw.io/account': name };
    const subject = { kind: 'ServiceAccount', name, namespace: only(objects, kind).metadata.namespace };
    const bindings = objects.filter((each) => each.kind === 'ClusterRoleBinding');
    expect(bindings).toContainEqual(expect.objectContaining({ subjects: [subject] }));
    const isLabelled = ({ metadata }: KubeObject): boolean => 'semaphore.uw.io/account' in (metadata.labels ?? {});
    expect(bindings.filter(isLabelled)).toMatchObject([{ metadata: { labels }, subjects: [subject] }]);
  });

  it('has a read-only file system, and no variables of Services', () => {
    expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false });
    expect(template.spec['enableServiceLinks']).toBe(false);
  });

  it('selects its Pods by the label of existing Deployments', () => {
    expect(spec.selector).toEqual({ matchLabels: { app: name } });
    expect(template.metadata.labels).toEqual({ app: name, ...labelsOf(name) });
  });
});

describe.each(programs.filter(({ kind }) => kind === 'Deployment'))(
  'the Deployment of $name',
  ({ name, base, run }) => {
    let objects: readonly KubeObject[];
    let spec: WorkloadSpec;
    beforeAll(async () => {
      objects = await render({ folder: base });
      spec = specOf(only(objects, 'Deployment'));
    });

    it('has two replicas, one of which writes', async () => {
      const [container] = spec.template.spec.containers;
      expect(spec.replicas).toBe(2);
      expect(await run(container.args ?? [], variablesOf(container))).toMatchObject({ leaderElect: true });
    });

    it('allows one disruption at a time, and spreads its replicas', () => {
      const selector = { matchLabels: { app: name } };
      expect(only(objects, 'PodDisruptionBudget')['spec']).toEqual({ maxUnavailable: 1, selector });
      const constraint = {
        maxSkew: 1,
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: selector,
        matchLabelKeys: ['pod-template-hash'],
      };
      expect(spec.template.spec.topologySpreadConstraints).toEqual([
        { ...constraint, topologyKey: 'kubernetes.io/hostname' },
        { ...constraint, topologyKey: 'topology.kubernetes.io/zone' },
      ]);
    });
  },
);

describe('the DaemonSet', () => {
  it('runs as root with NET_ADMIN and no other capability', async () => {
    const { template } = specOf(only(await render({ folder: 'wireguard/base' }), 'DaemonSet'));
    expect(template.spec.containers.map(({ securityContext }) => securityContext.capabilities)).toEqual([
      { drop: ['ALL'], add: ['NET_ADMIN'] },
    ]);
    expect(template.spec['securityContext']).toMatchObject({ runAsUser: 0 });
  });

  it('runs on every Linux node, in its network, and updates one at a time', async () => {
    const { updateStrategy, template } = specOf(only(await render({ folder: 'wireguard/base' }), 'DaemonSet'));
    expect(updateStrategy).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } });
    expect(template.spec).toMatchObject({
      hostNetwork: true,
      dnsPolicy: 'ClusterFirstWithHostNet',
      priorityClassName: 'system-node-critical',
      tolerations: [{ operator: 'Exists' }],
      nodeSelector: { 'kubernetes.io/os': 'linux' },
    });
  });

  it('keeps the keys on the node, at the path of the agent', async () => {
    const { template } = specOf(only(await render({ folder: 'wireguard/base' }), 'DaemonSet'));
    const [container] = template.spec.containers;
    const { wgKeyPath } = await wireguardOptions(container);
    expect(template.spec.volumes).toContainEqual({
      name: 'keys',
      hostPath: { path: wgKeyPath, type: 'DirectoryOrCreate' },
    });
    expect(container.volumeMounts).toContainEqual({ name: 'keys', mountPath: wgKeyPath });
  });

  it('starts no wireguard-go, and with the component uses that of the sidecar', async () => {
    const base = specOf(only(await render({ folder: 'wireguard/base' }), 'DaemonSet')).template.spec;
    const {
      containers: [agent],
      initContainers: [sidecar] = [],
    } = specOf(
      only(await render({ folder: 'wireguard/base', components: ['wireguard/components/userspace'] }), 'DaemonSet'),
    ).template.spec;
    expect(await wireguardOptions(base.containers[0])).toMatchObject({ userspace: 'never' });
    expect(await wireguardOptions(agent)).toMatchObject({ userspace: 'always' });
    expect(sidecar).toMatchObject({
      image: agent.image,
      restartPolicy: 'Always',
      args: ['-f', 'wireguard.c2'],
      securityContext: agent.securityContext,
    });
    expect(sidecar?.startupProbe?.exec.command).toEqual(['wg', 'show', 'wireguard.c2', 'listen-port']);
    const sockets = { name: 'sockets', mountPath: '/run/wireguard' };
    for (const container of [agent, sidecar]) expect(container?.volumeMounts).toContainEqual(sockets);
  });
});

async function wireguardOptions(container: Container): Promise<object & { readonly wgKeyPath?: unknown }> {
  const [, , wireguard] = programs;
  return (await wireguard?.run(container.args ?? [], variablesOf(container))) ?? {};
}
