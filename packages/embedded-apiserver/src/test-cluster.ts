/** A Kubernetes object as JSON, with the field names of the API reference. */
export type KubeObject = {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    uid?: string;
    resourceVersion?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    [field: string]: unknown;
  };
  [field: string]: unknown;
};

/** An API server's answer: the status code and the decoded JSON body (a `Status` for errors). */
export type Answer = { readonly status: number; readonly body: KubeObject & { items?: KubeObject[] } };

/**
 * An HTTP client for tests, with JSON bodies. It shares no code with `kube-client`, so that a bug in one
 * can't hide the same bug in the other.
 */
export interface TestClient {
  /** One request; never throws on an HTTP error status. `path` starts with `/api` or `/apis` and may carry a query. */
  request(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    options?: { contentType?: string; headers?: Record<string, string> },
  ): Promise<Answer>;
  /** GET that throws unless the answer is 200. */
  get(path: string): Promise<KubeObject>;
  /** The items of a list that throws unless the answer is 200. */
  list(path: string): Promise<KubeObject[]>;
  /** POST that throws unless the answer is 2xx, with the server's message. */
  create(path: string, object: unknown): Promise<KubeObject>;
  /** DELETE that throws unless the answer is 2xx or 404. */
  delete(path: string): Promise<void>;
}

/** One RBAC rule of a test's ServiceAccount, as in a ClusterRole. */
export type PolicyRule = { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] };

/** The credentials of a ServiceAccount: its token, and files for a program. */
export type TestAccount = { readonly token: string; readonly tokenFile: string; readonly kubeconfig: string };

/**
 * A running API server for tests, embedded or real, with TLS and RBAC. All its files are in `dir`, which `stop()`
 * removes.
 */
export interface TestCluster {
  readonly name: string;
  readonly kind: 'embedded' | 'real';
  /** `https://127.0.0.1:<port>`, without a trailing slash. */
  readonly url: string;
  /** PEM file of the CA that signed the server's certificate. */
  readonly caFile: string;
  readonly dir: string;
  /** cluster-admin. */
  readonly admin: TestClient;
  /** A kubeconfig of a cluster-admin, for people and kubectl. */
  readonly adminKubeconfig: string;
  /**
   * Creates ServiceAccount `name` in kube-system with a ClusterRole of `rules` bound to it, and a token for it.
   * The files' mode is 0600.
   */
  account(name: string, rules: readonly PolicyRule[]): Promise<TestAccount>;
  /** A client that authenticates with `token`. */
  clientFor(token: string): TestClient;
  /** Registers a CustomResourceDefinition and resolves once its resource can be listed. */
  defineResource(crd: KubeObject): Promise<void>;
  /** Stops serving as a crash would (connections reset) and starts again on the same port with the same objects. */
  restart(): Promise<void>;
  /** Idempotent; leaves no process, socket or folder behind. */
  stop(): Promise<void>;
}
