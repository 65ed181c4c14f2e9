import { readBody } from '../http/body.ts';
import type { Call } from '../http/call.ts';
import { notFound } from '../http/status.ts';
import { timestamp } from '../storage/timestamp.ts';

const DEFAULT_SECONDS = 3600;

/** Answers a TokenRequest for a ServiceAccount, the only subresource besides status. */
export async function requestToken({ request, resource, target, storage, identities }: Call): Promise<object> {
  const body = (await readBody(request)) as { spec?: { expirationSeconds?: number; audiences?: string[] } };
  const account = storage.collection(resource).get(target.namespace, target.name);
  if (!account) throw notFound({ group: '', plural: 'serviceaccounts', name: target.name });
  const expirationSeconds = body.spec?.expirationSeconds ?? DEFAULT_SECONDS;
  const expiresAtMs = Date.now() + expirationSeconds * 1000;
  const { namespace, name, uid } = account;
  return {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name, namespace },
    spec: { ...body.spec, expirationSeconds },
    status: {
      token: identities.issue({ namespace, name, uid, expiresAtMs }),
      expirationTimestamp: timestamp(expiresAtMs),
    },
  };
}
