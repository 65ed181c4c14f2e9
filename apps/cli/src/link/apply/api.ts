import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Parsed } from '@kube-semaphore/net';
import { printable } from '@kube-semaphore/text';
import * as z from 'zod/mini';
import type { Context } from '../../clusters/contexts.ts';
import { failureOf } from '../../clusters/failure.ts';
import type { ObjectApi, ObjectAt } from '../../clusters/object-api.ts';
import { readGroups, valueOf } from '../../clusters/objects.ts';
import { ask, RequestError } from '../../clusters/request.ts';
import type { DnsConfig } from '../../dns/config.ts';
import type { DnsEdit } from '../../dns/edits.ts';
import { readDnsConfig } from '../../dns/read.ts';

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
export const nameOf = ({ kind, metadata }: Pick<ObjectAt, 'kind' | 'metadata'>): string =>
  `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`;

/** What a request to apply did, or would do. */
export type Applied = 'created' | 'changed' | 'unchanged';

/** The field manager of what a link applies. */
export const MANAGER = 'semaphore-link';
const TIMEOUT_MS = 30_000;

/** For the controller that fills in a token. */
const TOKEN_TIMEOUT_MS = 60_000;

const stored = z.looseObject({
  metadata: z.looseObject({
    resourceVersion: z.string(),
    generation: z.optional(z.number()),
    managedFields: z.optional(z.array(z.looseObject({}))),
  }),
});
const secret = z.object({ data: z.optional(z.record(z.string(), z.string())) });
const tokenRequest = z.object({ status: z.object({ token: z.string() }) });
const claims = z.object({ exp: z.optional(z.number()) });
const configMap = z.object({ data: z.optional(z.record(z.string(), z.string())) });

const objectAt = (kind: string, namespace: string, name: string): ObjectAt => ({
  apiVersion: 'v1',
  kind,
  metadata: { namespace, name },
});

/** @param name `kube-system/coredns` */
export function configMapAt(name: string): ObjectAt {
  const [namespace = '', own = ''] = name.split('/');
  return objectAt('ConfigMap', namespace, own);
}

const ROOT_CA = objectAt('ConfigMap', 'kube-system', 'kube-root-ca.crt');

/** What decides how names resolve in a cluster, and what changes. */
export type DnsPlan = { readonly config: DnsConfig; readonly edits: readonly DnsEdit[] };

/** In base64. */
type Credentials = { readonly token: string; readonly 'ca.crt': string };

/** Reads and writes the objects of a link in one cluster. Its errors are sentences, without what the object holds. */
export class LinkApi {
  readonly #context: Context;
  readonly #signal: AbortSignal;
  #objects: Promise<ObjectApi> | undefined;

  constructor(context: Context, { signal }: { readonly signal: AbortSignal }) {
    this.#context = context;
    this.#signal = signal;
  }

  /** Makes the fields of an object what `object` says, and leaves others (server-side apply). */
  async apply(object: KubeObject): Promise<Applied> {
    const before = await this.#read(object, stored);
    const answer = await this.#write(object, async (objects) => objects.patch(object, MANAGER, 'apply'));
    if (before === undefined) return 'created';
    const after = stored.parse(answer);
    return before.metadata.resourceVersion === after.metadata.resourceVersion ? 'unchanged' : 'changed';
  }

  /** What `apply` would do: the API server says it, and stores nothing. */
  async plan(object: KubeObject): Promise<Applied> {
    const before = await this.#read(object, stored);
    if (before === undefined) return 'created';
    const answer = await this.#write(object, async (objects) => objects.patch(object, MANAGER, 'plan'));
    return isDeepStrictEqual(withoutVersion(before), withoutVersion(stored.parse(answer))) ? 'unchanged' : 'changed';
  }

  /** A new token of an account in kube-system, which the API server may end before `lifetimeS`. */
  async requestToken(account: string, lifetimeS: number): Promise<Credentials> {
    const { data = {} } = (await this.#read(ROOT_CA, configMap)) ?? {};
    const { 'ca.crt': ca } = data;
    if (ca === undefined) throw new Error(`${this.#context.name}: ConfigMap kube-system/kube-root-ca.crt has no CA`);
    const path = `/api/v1/namespaces/kube-system/serviceaccounts/${account}/token`;
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: lifetimeS },
    };
    // Errors of a Secret quote no words of the API server.
    const answer = await this.#write(objectAt('Secret', 'kube-system', account), async () =>
      JSON.parse((await ask(this.#context, { path, body }, this.#limits)).body),
    );
    const { token } = tokenRequest.parse(answer).status;
    return { token: base64(token), 'ca.crt': base64(ca) };
  }

  /** Whether a Secret exists. */
  async hasSecret(namespace: string, name: string): Promise<boolean> {
    return (await this.#read(objectAt('Secret', namespace, name), secret)) !== undefined;
  }

  /** When the token in a Secret ends, in seconds since 1970; undefined: it has none that ends. */
  async expiryOf(namespace: string, name: string): Promise<number | undefined> {
    const { data = {} } = (await this.#read(objectAt('Secret', namespace, name), secret)) ?? {};
    return expiryIn(data['token']);
  }

  /** The token and the CA in a Secret; undefined: it lacks one. */
  async credentialsIn(namespace: string, name: string): Promise<Credentials | undefined> {
    const { data = {} } = (await this.#read(objectAt('Secret', namespace, name), secret)) ?? {};
    const { token, 'ca.crt': ca } = data;
    return token === undefined || ca === undefined ? undefined : { token, 'ca.crt': ca };
  }

  /** Waits until the Secret of an account in kube-system has its token. */
  async credentialsOf(account: string): Promise<Credentials> {
    const at = objectAt('Secret', 'kube-system', account);
    const until = performance.now() + TOKEN_TIMEOUT_MS;
    for (;;) {
      const found = await this.credentialsIn('kube-system', account);
      if (found !== undefined) return found;
      if (performance.now() > until)
        throw new Error(
          `${this.#context.name}: ${nameOf(at)} has no token yet: check kube-controller-manager, and run this again`,
        );
      await delay(500, undefined, { signal: this.#signal });
    }
  }

  /**
   * Plans to change what decides how names resolve.
   *
   * @throws {Error} with the reason of `edit`
   */
  async planDns(edit: (config: DnsConfig) => Parsed<readonly DnsEdit[]>): Promise<DnsPlan> {
    const run = { signal: this.#signal };
    const groups = valueOf(await readGroups(this.#context, run));
    const config = valueOf(await readDnsConfig(this.#context, groups, run));
    const edits = edit(config);
    if (!edits.ok)
      throw new Error(
        printable(
          `${this.#context.name}: ${edits.reason}. ` +
            'Correct that, or add the rules of docs/service-mirror.md by hand, and use --no-coredns',
        ),
      );
    return { config, edits: edits.value };
  }

  /** Fails if another program has changed a ConfigMap since `plan`. @param report gets each that changes */
  async writeDns({ config, edits }: DnsPlan, report: (object: ObjectAt) => void): Promise<void> {
    for (const [configMap, ofOne] of Map.groupBy(edits, (each) => each.configMap)) {
      const at = configMapAt(configMap);
      const resourceVersion = config.versions.get(configMap);
      const data = Object.fromEntries(ofOne.map(({ key, after }) => [key, after ?? null]));
      const path = `/api/v1/namespaces/${at.metadata.namespace}/configmaps`;
      const changed = { ...at, metadata: { ...at.metadata, resourceVersion }, data };
      await this.#write(at, async (objects) =>
        resourceVersion === undefined
          ? ask(this.#context, { path, body: changed }, this.#limits)
          : objects.patch(changed, MANAGER, 'merge'),
      );
      report(at);
    }
  }

  /** @returns undefined if it doesn't exist */
  async #read<T extends z.ZodMiniType>(at: ObjectAt, schema: T): Promise<z.output<T> | undefined> {
    try {
      return schema.parse(await (await this.#opened()).get(at));
    } catch (error) {
      if (error instanceof RequestError && error.status === 404) return undefined;
      throw this.#failure(error, `${nameOf(at)} can't be read`);
    }
  }

  async #write(at: ObjectAt, send: (objects: ObjectApi) => Promise<unknown>): Promise<unknown> {
    try {
      return await send(await this.#opened());
    } catch (error) {
      throw this.#failure(error, `${nameOf(at)} can't be applied`);
    }
  }

  #opened(): Promise<ObjectApi> {
    return (this.#objects ??= import('../../clusters/object-api.ts').then(
      (loaded) => new loaded.ObjectApi(this.#context, this.#limits),
    ));
  }

  get #limits() {
    return { signal: this.#signal, timeoutMs: TIMEOUT_MS };
  }

  /** No server's words on a Secret: they may quote it. */
  #failure(error: unknown, what: string): Error {
    this.#signal.throwIfAborted();
    if (!(error instanceof RequestError))
      return new Error(printable(`${this.#context.name}: ${what}: the answer of the API server is not valid`));
    const words = what.startsWith('Secret ') ? what : `${what}: ${error.message}`;
    const { status } = error;
    const isOfRequest = status !== undefined && status !== 401 && status !== 403;
    return new Error(
      isOfRequest
        ? printable(`${this.#context.name}: ${words} (${status})`)
        : failureOf(this.#context, { status, message: words }),
    );
  }
}

/** What an object is, without what each write changes. */
const withoutVersion = ({ metadata, ...rest }: z.infer<typeof stored>) => ({
  ...rest,
  metadata: {
    ...metadata,
    resourceVersion: undefined,
    generation: undefined,
    managedFields: metadata.managedFields?.map((each) => ({ ...each, time: undefined })),
  },
});

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
