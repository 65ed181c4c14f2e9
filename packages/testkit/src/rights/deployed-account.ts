import { readFile } from 'node:fs/promises';
import {
  issueAccount,
  type KubeObject,
  type TestAccount,
  type TestClient,
  type TestCluster,
} from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { rightsCount } from './counted.ts';
import { deployedPolicies, deployedRights, type Rights } from './manifests.ts';

const PLURALS: Readonly<Record<string, string>> = {
  ServiceAccount: 'serviceaccounts',
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
  Role: 'roles',
  RoleBinding: 'rolebindings',
  ValidatingAdmissionPolicy: 'validatingadmissionpolicies',
  ValidatingAdmissionPolicyBinding: 'validatingadmissionpolicybindings',
};

/**
 * Creates the service account of folders of deploy/ with its roles, unchanged, and a token. Creates missing
 * namespaces.
 *
 * @param folders as in `deployedRights`
 */
export async function deployAccount(cluster: TestCluster, ...folders: readonly string[]): Promise<TestAccount> {
  const rights = deployedRights(...folders);
  const { admin } = cluster;
  // Other users than the admin need the default roles for discovery.
  await eventually(async () => (await admin.request('GET', '/readyz')).status === 200, true, { what: 'default roles' });
  await give(cluster, rights, rights.objects);
  return issueToken(cluster, rights.account);
}

/** A token of an existing ServiceAccount, which replaces that in its files. */
export async function issueToken(
  { name: clusterName, url, dir, admin, caFile }: Pick<TestCluster, 'name' | 'url' | 'dir' | 'admin' | 'caFile'>,
  account: Parameters<typeof issueAccount>[1],
): Promise<TestAccount> {
  return issueAccount({ clusterName, url, dir, admin, caPem: await readFile(caFile, 'utf8') }, account);
}

/** Adds the rights of components to an account of `deployAccount`. */
export async function deployComponent(cluster: TestCluster, base: string, component: string): Promise<void> {
  const there = new Set(deployedRights(base).objects.map(identityOf));
  const rights = deployedRights(base, component);
  await give(
    cluster,
    rights,
    rights.objects.filter((object) => !there.has(identityOf(object))),
  );
}

/**
 * Creates the admission policies for an account of `deployAccount` that may create a
 * Lease, and waits until they are in force. An embedded API server has no such kind, nor has one before 1.30.
 */
export async function deployPolicies({ admin }: TestCluster, folder: string): Promise<void> {
  const kinds = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
  if ((await admin.request('GET', kinds)).status === 404) return;
  await createAll(admin, deployedPolicies(folder));
  const { account, grants } = deployedRights(folder);
  const namespace = grants.find(({ rules }) =>
    rules.some(({ resources, verbs }) => resources.includes('leases') && verbs.includes('create')),
  )?.namespace;
  // Impersonated, so that the audit log doesn't name the account; a dry run, because the policy may come later.
  const headers = { 'Impersonate-User': `system:serviceaccount:${account.namespace}:${account.name}` };
  const foreign = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'foreign' } };
  await eventually(
    async () => {
      const { body } = await admin.request(
        'POST',
        `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases?dryRun=All`,
        foreign,
        { headers },
      );
      return String(body['message']).includes('ValidatingAdmissionPolicy');
    },
    true,
    { what: `the policies of ${folder}` },
  );
}

const identityOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.namespace ?? ''} ${metadata.name}`;

/** Creates the missing objects of an account's rights, and waits until all rights apply. */
async function give(
  { admin, kind }: TestCluster,
  { account, grants }: Rights,
  missing: readonly KubeObject[],
): Promise<void> {
  for (const name of new Set(missing.map(({ metadata }) => metadata.namespace)))
    if (name !== undefined) await ensureNamespace(admin, name);
  await createAll(admin, missing);
  // The embedded server reads its roles for each request, so there is nothing to wait for.
  if (kind === 'real') await rightsCount(admin, account, grants);
}

async function createAll(admin: TestClient, objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) {
    const { apiVersion, kind, metadata } = object;
    const plural = PLURALS[kind];
    if (plural === undefined) throw new Error(`${kind} ${metadata.name} in an rbac.yaml`);
    const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
    await admin.create(
      `${root}${metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`}/${plural}`,
      object,
    );
  }
}

async function ensureNamespace(admin: TestClient, name: string): Promise<void> {
  const { status, body } = await admin.request('POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  });
  if (status !== 201 && status !== 409) throw new Error(`namespace ${name}: ${status} ${String(body['message'])}`);
}
