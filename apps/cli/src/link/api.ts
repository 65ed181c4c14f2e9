import { setTimeout as delay } from 'node:timers/promises';
import { printable } from '@kube-semaphore/text';
import * as z from 'zod/mini';
import type { Context } from '../clusters/contexts.ts';
import { failureOf } from '../clusters/failure.ts';
import { ask, get, RequestError } from '../clusters/request.ts';

const objectSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.optional(z.string()) }),
});

/** An object to apply. */
export type KubeObject = z.infer<typeof objectSchema>;

/** Reads an object. @throws {Error} for another value */
export const readObject = (value: unknown): KubeObject => objectSchema.parse(value);

/** `Secret kube-system/semaphore-policy-c2`. */
export const nameOf = ({ kind, metadata }: KubeObject): string =>
  `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`;

/** What a request to apply did. */
export type Applied = 'created' | 'changed' | 'unchanged';

/** The field manager of what a link applies. */
export const MANAGER = 'semaphore-link';
const TIMEOUT_MS = 30_000;

/** For the controller that fills in a token. */
const TOKEN_TIMEOUT_MS = 60_000;

const resources = z.object({
  resources: z.array(z.object({ name: z.string(), kind: z.string(), namespaced: z.boolean() })),
});
const stored = z.object({ metadata: z.object({ resourceVersion: z.string() }) });
const secret = z.object({ data: z.optional(z.record(z.string(), z.string())) });
const tokenRequest = z.object({ status: z.object({ token: z.string() }) });
const claims = z.object({ exp: z.optional(z.number()) });
const configMap = z.object({
  metadata: z.object({ resourceVersion: z.string() }),
  data: z.optional(z.record(z.string(), z.string())),
});

const COREDNS = {
  name: 'ConfigMap kube-system/coredns',
  path: '/api/v1/namespaces/kube-system/configmaps/coredns',
} as const;

const ROOT_CA = '/api/v1/namespaces/kube-system/configmaps/kube-root-ca.crt';

type CorefilePlan = { readonly after: string; readonly isNew: boolean; readonly resourceVersion: string };

/** In base64. */
type Credentials = { readonly token: string; readonly 'ca.crt': string };

/** Reads and writes the objects of a link in one cluster. Its errors are sentences, without what the object holds. */
export class LinkApi {
  readonly #context: Context;
  readonly #signal: AbortSignal;
  readonly #resources = new Map<string, Promise<z.infer<typeof resources>['resources']>>();

  constructor(context: Context, { signal }: { readonly signal: AbortSignal }) {
    this.#context = context;
    this.#signal = signal;
  }

  /** Makes the fields of an object what `object` says, and leaves others (server-side apply). */
  async apply(object: KubeObject): Promise<Applied> {
    const what = nameOf(object);
    const path = await this.#pathOf(object);
    const before = await this.#read(path, stored, what);
    const answer = await this.#send(`${path}?fieldManager=${MANAGER}&force=true`, {
      what,
      body: object,
      contentType: 'application/apply-patch+yaml',
    });
    if (before === undefined) return 'created';
    const after = stored.parse(JSON.parse(answer));
    return before.metadata.resourceVersion === after.metadata.resourceVersion ? 'unchanged' : 'changed';
  }

  /** A new token of an account in kube-system, which the API server may end before `lifetimeS`. */
  async requestToken(account: string, lifetimeS: number): Promise<Credentials> {
    // Errors of a Secret quote no words of the API server.
    const what = `Secret kube-system/${account}`;
    const { data = {} } = (await this.#read(ROOT_CA, configMap, 'ConfigMap kube-system/kube-root-ca.crt')) ?? {};
    const { 'ca.crt': ca } = data;
    if (ca === undefined) throw new Error(`${this.#context.name}: ConfigMap kube-system/kube-root-ca.crt has no CA`);
    const answer = await this.#send(`/api/v1/namespaces/kube-system/serviceaccounts/${account}/token`, {
      what,
      method: 'POST',
      body: {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { expirationSeconds: lifetimeS },
      },
      contentType: 'application/json',
    });
    const { token } = tokenRequest.parse(JSON.parse(answer)).status;
    return { token: base64(token), 'ca.crt': base64(ca) };
  }

  /** Whether a Secret exists. */
  async hasSecret(namespace: string, name: string): Promise<boolean> {
    return (await this.#read(secretPath(namespace, name), secret, `Secret ${namespace}/${name}`)) !== undefined;
  }

  /** When the token in a Secret ends, in seconds since 1970; undefined: it has none that ends. */
  async expiryOf(namespace: string, name: string): Promise<number | undefined> {
    const { data = {} } = (await this.#read(secretPath(namespace, name), secret, `Secret ${namespace}/${name}`)) ?? {};
    return expiryIn(data['token']);
  }

  /** Waits until the Secret of an account in kube-system has its token. */
  async credentialsOf(account: string): Promise<Credentials> {
    const what = `Secret kube-system/${account}`;
    const until = performance.now() + TOKEN_TIMEOUT_MS;
    for (;;) {
      const { data = {} } = (await this.#read(secretPath('kube-system', account), secret, what)) ?? {};
      const { token, 'ca.crt': ca } = data;
      if (token !== undefined && ca !== undefined) return { token, 'ca.crt': ca };
      if (performance.now() > until)
        throw new Error(
          `${this.#context.name}: ${what} has no token yet: check kube-controller-manager, and run this again`,
        );
      await delay(500, undefined, { signal: this.#signal });
    }
  }

  /**
   * Plans to replace the Corefile by what `edit` makes of it.
   *
   * @param edit gets an empty text if the cluster has no Corefile
   * @throws {Error} if `edit` returns undefined
   */
  async planCorefile(edit: (corefile: string) => string | undefined): Promise<CorefilePlan> {
    const found = await this.#read(COREDNS.path, configMap, COREDNS.name);
    const before = found?.data?.['Corefile'] ?? '';
    const after = edit(before);
    if (after === undefined)
      throw new Error(
        `${this.#context.name}: ${COREDNS.name} has no Corefile with one line "kubernetes": ` +
          'add the rules of docs/service-mirror.md by hand, and use --no-coredns',
      );
    return { after, isNew: after !== before, resourceVersion: found?.metadata.resourceVersion ?? '' };
  }

  /** Fails if another program has changed the ConfigMap since `plan`. */
  async writeCorefile({ after, isNew, resourceVersion }: CorefilePlan): Promise<Applied> {
    if (!isNew) return 'unchanged';
    await this.#send(`${COREDNS.path}?fieldManager=${MANAGER}`, {
      what: COREDNS.name,
      body: { metadata: { resourceVersion }, data: { Corefile: after } },
      contentType: 'application/merge-patch+json',
    });
    return 'changed';
  }

  async #pathOf(object: KubeObject): Promise<string> {
    const { apiVersion, kind, metadata } = object;
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const known = this.#resources.get(root) ?? this.#discover(root, nameOf(object));
    this.#resources.set(root, known);
    const resource = (await known).find((each) => each.kind === kind && !each.name.includes('/'));
    if (resource === undefined)
      throw new Error(
        `${this.#context.name}: the API server has no kind ${kind} of ${apiVersion}, which ${nameOf(object)} needs`,
      );
    const namespace = resource.namespaced ? `/namespaces/${metadata.namespace ?? 'default'}` : '';
    return `${root}${namespace}/${resource.name}/${metadata.name}`;
  }

  async #discover(root: string, what: string): Promise<z.infer<typeof resources>['resources']> {
    return (await this.#read(root, resources, what))?.resources ?? [];
  }

  /** @returns undefined if it doesn't exist */
  async #read<T extends z.ZodMiniType>(path: string, schema: T, what: string): Promise<z.output<T> | undefined> {
    try {
      return schema.parse(JSON.parse(await get(this.#context, path, this.#limits)));
    } catch (error) {
      if (error instanceof RequestError && error.status === 404) return undefined;
      throw this.#failure(error, `${what} can't be read`);
    }
  }

  async #send(
    path: string,
    { what, ...request }: { what: string; method?: 'POST'; body: object; contentType: string },
  ): Promise<string> {
    try {
      return (await ask(this.#context, { method: 'PATCH', path, ...request }, this.#limits)).body;
    } catch (error) {
      throw this.#failure(error, `${what} can't be applied`);
    }
  }

  get #limits() {
    return { signal: this.#signal, timeoutMs: TIMEOUT_MS };
  }

  /** No server's words on a Secret: they may quote it. */
  #failure(error: unknown, what: string): Error {
    this.#signal.throwIfAborted();
    const known = error instanceof RequestError ? error : new RequestError('the answer is not valid');
    const words = what.startsWith('Secret ') ? what : `${what}: ${known.message}`;
    const { status } = known;
    const isOfRequest = status !== undefined && status !== 401 && status !== 403;
    return new Error(
      isOfRequest
        ? printable(`${this.#context.name}: ${words} (${status})`)
        : failureOf(this.#context, { status, message: words }),
    );
  }
}

const secretPath = (namespace: string, name: string): string => `/api/v1/namespaces/${namespace}/secrets/${name}`;

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** The claim `exp` of a token in base64. Another text that isn't a token has none. */
function expiryIn(token = ''): number | undefined {
  const [, payload = ''] = Buffer.from(token, 'base64').toString().split('.');
  try {
    return claims.parse(JSON.parse(Buffer.from(payload, 'base64url').toString())).exp;
  } catch {
    return undefined;
  }
}
