import type { KubeObject, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually, isDefined } from '@kube-semaphore/eventually';
import { bash, docBlocks } from '@kube-semaphore/testkit';

const TEMPLATES = '/apis/templates.gatekeeper.sh/v1/constrainttemplates';
const CONSTRAINTS = '/apis/constraints.gatekeeper.sh/v1beta1/semaphoremirrornamelength';

/** Anything at all. */
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/**
 * Has the page's commands for Gatekeeper run on a cluster without it, where a stand-in makes the constraint's kind of the
 * template, as Gatekeeper does.
 *
 * @returns the parameters of the constraint, as the API server keeps them
 */
export async function applyConstraint(cluster: TestCluster): Promise<unknown> {
  const { admin } = cluster;
  await cluster.defineResource(
    definition('templates.gatekeeper.sh', 'v1', { kind: 'ConstraintTemplate', plural: 'constrainttemplates' }, open),
  );
  const [commands = ''] = docBlocks('admission.md', 'With Gatekeeper');
  await Promise.all([bash(commands, cluster), establish(cluster)]);
  const constraint = await admin.get(`${CONSTRAINTS}/mirror-name-length`);
  return (constraint['spec'] as { readonly parameters?: unknown }).parameters;
}

async function establish(cluster: TestCluster): Promise<void> {
  const { admin } = cluster;
  const [template] = await eventually(
    async () => {
      const templates = await admin.list(TEMPLATES);
      return templates.length > 0 ? templates : undefined;
    },
    isDefined,
    { what: 'the template' },
  );
  const { crd } = template!['spec'] as {
    crd: { spec: { names: { kind: string }; validation: { openAPIV3Schema: object } } };
  };
  const { names, validation } = crd.spec;
  const schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { match: open, parameters: validation.openAPIV3Schema } } },
  };
  await cluster.defineResource(
    definition('constraints.gatekeeper.sh', 'v1beta1', { ...names, plural: names.kind.toLowerCase() }, schema),
  );
  await admin.request('PATCH', `${TEMPLATES}/${template!.metadata.name}`, { status: { created: true } });
}

function definition(
  group: string,
  version: string,
  names: { readonly kind: string; readonly plural: string },
  openAPIV3Schema: object,
): KubeObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${names.plural}.${group}` },
    spec: {
      group,
      names,
      scope: 'Cluster',
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}
