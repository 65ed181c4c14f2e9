// Not from the index of client-node: it has openid-client, tar-fs and more, and each start of `semaphore` reads its bundle.
import {
  createConfiguration,
  ResponseContext,
  SelfDecodingBody,
  ServerConfiguration,
  wrapHttpLibrary,
} from '@kubernetes/client-node/dist/gen/index.js';
import { KubernetesObjectApi } from '@kubernetes/client-node/dist/object.js';
import { PatchStrategy } from '@kubernetes/client-node/dist/patch.js';
import { defaultSerializer } from '@kubernetes/client-node/dist/serializer.js';
import type { KubernetesObject } from '@kubernetes/client-node/dist/types.js';
import type { Context } from './contexts.ts';
import { ask, RequestError, type RequestLimits, type Sent } from './request.ts';

/** Which object. */
export type ObjectAt = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string | undefined };
};

/**
 * Objects of any kind in a cluster: client-node knows where they are, and what a request to apply is. The connection is ours.
 * What the API server answers is not checked. Import it when it is needed: it takes a while.
 *
 * All methods throw RequestErrors as `ask`, but for an answer that isn't valid.
 */
export class ObjectApi {
  readonly #client: Client;

  constructor(context: Context, limits: RequestLimits) {
    this.#client = new Client(clientConfiguration(context, limits));
  }

  get(at: ObjectAt): Promise<unknown> {
    return this.#client.read(whole(at)).catch(throwCause);
  }

  /**
   * @param how `apply` takes the fields of other managers, `plan` only says what that would give; `merge` fails for another
   *   resourceVersion than the stored one
   */
  patch(object: ObjectAt, fieldManager: string, how: 'apply' | 'plan' | 'merge'): Promise<unknown> {
    const [force, strategy] =
      how === 'merge' ? [undefined, PatchStrategy.MergePatch] : [true, PatchStrategy.ServerSideApply];
    const dryRun = how === 'plan' ? 'All' : undefined;
    return this.#client.patch(whole(object), undefined, dryRun, fieldManager, force, strategy).catch(throwCause);
  }
}

class Client extends KubernetesObjectApi {
  protected override async specUriPath(spec: KubernetesObject, action: 'read' | 'patch'): Promise<string> {
    const { apiVersion = '', kind = '', metadata } = spec;
    const found = await this.resource(apiVersion, kind).catch((error: Error) => {
      if (!(error.cause instanceof RequestError && error.cause.status === 404)) throw error;
    });
    if (found === undefined)
      throw new RequestError(`the API server has no kind ${kind} of ${apiVersion}`, { status: 404 });
    // It is in lower case, but the name of a role may not be.
    const path = await super.specUriPath(spec, action);
    return path.slice(0, path.lastIndexOf('/') + 1) + encodeURIComponent(metadata?.name ?? '');
  }
}

const clientConfiguration = (context: Context, limits: RequestLimits) =>
  createConfiguration({
    // `ask` puts the server before the path.
    baseServer: new ServerConfiguration('http://server', {}),
    httpApi: wrapHttpLibrary({
      async send(request) {
        const { pathname, search } = new URL(request.getUrl());
        const content = request.getBody();
        const sent = {
          path: `${pathname}${search}`,
          method: request.getHttpMethod() as NonNullable<Sent['method']>,
          body: typeof content === 'string' ? (JSON.parse(content) as object) : undefined,
          contentType: request.getHeaders()['Content-Type'] ?? 'application/json',
        };
        // client-node changes the messages of some errors.
        const { body } = await ask(context, sent, limits).catch((cause: Error) => {
          throw new Error(cause.message, { cause });
        });
        const data = new SelfDecodingBody(Promise.resolve(Buffer.from(body)));
        return new ResponseContext(200, { 'content-type': 'application/json' }, data);
      },
    }),
  });

function throwCause(error: Error): never {
  throw error.cause instanceof RequestError ? error.cause : error;
}

/**
 * A copy that is sent as it is. client-node's models lose fields that they don't have, or have by another name: without its
 * `from`, a NetworkPolicy would let everyone in.
 */
const whole = (object: ObjectAt) =>
  defaultSerializer.deserialize(object, '') as KubernetesObject & { metadata: { name: string } };
