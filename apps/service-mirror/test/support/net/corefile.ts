import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The Corefile that a page of docs/ shows: the only fenced block with the plugin `kubernetes`. */
export function documentedCorefile(name: 'service-mirror.md' | 'mcs.md' = 'service-mirror.md'): string {
  const page = fileURLToPath(new URL(`../../../../../docs/${name}`, import.meta.url));
  const blocks = readFileSync(page, 'utf8').matchAll(/^```.*\n([^]*?)^```$/gm);
  const [corefile, ...others] = Array.from(blocks, ([, block = '']) => block).filter((block) =>
    /^ +kubernetes /m.test(block),
  );
  if (corefile === undefined || others.length > 0)
    throw new Error(`${page} shows ${others.length > 0 ? 'several Corefiles' : 'no Corefile'}`);
  return corefile;
}

const NAME = '[a-zA-Z0-9-_]*';
const ASKED = `(${NAME}\\.)?(${NAME})\\.([a-zv0-9-_]*)\\.svc\\.cluster\\.c2`;
const ANSWERED = `(${NAME}\\.)?c2-(${NAME})-73736d-(${NAME})\\.sys-semaphore\\.svc\\.cluster\\.local`;

/**
 * The Corefile on the Go program's page, without the option `upstream`, which CoreDNS no longer knows. It resolves
 * addresses. For SRV records, it loses `_http` of `_http._tcp`.
 */
export const deployedCorefile = `
cluster.c2 {
    errors
    health
    rewrite continue {
      name regex ${ASKED} {1}c2-{3}-73736d-{2}.sys-semaphore.svc.cluster.local
      answer name ${ANSWERED} {1}{3}.{2}.svc.cluster.c2
    }
    kubernetes cluster.local in-addr.arpa ip6.arpa {
      pods insecure
      endpoint_pod_names
      fallthrough in-addr.arpa ip6.arpa
    }
    forward . /etc/resolv.conf
    cache 30
    loop
    reload
    loadbalance
}
.:53 {
    errors
    health
    kubernetes cluster.local in-addr.arpa ip6.arpa {
      pods insecure
      endpoint_pod_names
      fallthrough in-addr.arpa ip6.arpa
    }

    prometheus :9153
    forward . /etc/resolv.conf
    cache 30
    loop
    reload
    loadbalance
}
`;
