import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { builtBinary } from '@kube-semaphore/testkit';
import type { Case, Group } from './cases.ts';
import { serviceOf } from './service.ts';
import { refusals, type Parameters } from './refusals.ts';

/** The files to deploy. */
export const gatekeeper = fileURLToPath(
  new URL('../../../../gatekeeper/semaphore-mirror-name-length', import.meta.url),
);

const run = promisify(execFile);

/** The failed cases of the suites in a folder, by Gatekeeper's own test program. */
export async function gatorVerify(folder: string): Promise<string> {
  const { stdout } = await run(builtBinary('gator'), ['verify', folder]).catch(
    (error: { readonly stdout: string }) => error,
  );
  return stdout;
}

/** The same for suites that expect exactly the messages of `refusals`. */
export async function verifyGroup({ name, parameters, cases }: Group): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gator-'));
  try {
    const write = (file: string, content: object) => writeFile(join(folder, file), JSON.stringify(content));
    await copyFile(join(gatekeeper, 'template.yaml'), join(folder, 'template.yaml'));
    await write('constraint.yaml', constraintOf(parameters));
    await Promise.all(
      cases.map((each, i) =>
        write(`${i}.yaml`, each.before === undefined ? serviceOf(each, each.after) : reviewOf(each)),
      ),
    );
    const test = {
      name,
      template: 'template.yaml',
      constraint: 'constraint.yaml',
      cases: cases.map((each, i) => caseOf(each, parameters, `${i}.yaml`)),
    };
    await write('suite.yaml', {
      apiVersion: 'test.gatekeeper.sh/v1alpha1',
      kind: 'Suite',
      metadata: { name },
      tests: [test],
    });
    return await gatorVerify(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function constraintOf(parameters: Parameters): object {
  return {
    apiVersion: 'constraints.gatekeeper.sh/v1beta1',
    kind: 'SemaphoreMirrorNameLength',
    metadata: { name: 'mirror-name-length' },
    spec: { match: { kinds: [{ apiGroups: [''], kinds: ['Service'] }] }, parameters },
  };
}

/** The API server's request to Gatekeeper's webhook for a changed Service. */
function reviewOf(change: Case): object {
  const { namespace, service: name, before = {}, after } = change;
  const [group, version] = ['', 'v1'];
  const request = {
    uid: 'u',
    kind: { group, version, kind: 'Service' },
    resource: { group, version, resource: 'services' },
    name,
    namespace,
    operation: 'UPDATE',
    userInfo: {},
    object: serviceOf(change, after),
    oldObject: serviceOf(change, before),
  };
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request };
}

/** Exactly these messages, each once. They have no special characters of regular expressions. */
function caseOf(each: Case, parameters: Parameters, object: string): object {
  const messages = refusals(parameters, each);
  const assertions = messages.map((message) => ({ violations: 1, message: `^${message}$` }));
  return { name: each.name, object, assertions: [{ violations: messages.length }, ...assertions] };
}
