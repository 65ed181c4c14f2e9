import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { isCurrent } from './dns.ts';

/** Each kind of word that a Corefile can have. */
const COREFILE = `# comment
.:5355 {
    errors
    health 127.0.0.1:18080 {
        lameduck 5s
    }
    ready 127.0.0.1:18181
    rewrite name regex (.*)\\.c2\\.local "{1}.x <&> 'ü" answer auto
    prometheus 127.0.0.1:19153
    reload 2s # often
    rewrite name regex ^a{2}#b$ c
    rewrite name exact "d \\" \\e
f" g
    forward . 192.0.2.2
    rewrite stop {
        name exact a "b c"
    }
}

foo.local:5355 bar.local:5355 {
}
`;

/** What CoreDNS 1.14.7 said when it had loaded that. */
const HASH =
  'a781d62c091047bbd60c3715505b432c18e9954d5eea5f7dee207928273d9528' +
  'db49e8210a3a44d3dd30a327ad0751b80c7e75ca7dc9139671b9c96bd1214c20';
const LOADED = `# TYPE coredns_reload_version_info gauge
coredns_reload_version_info{hash="sha512",value="${HASH}"} 1
`;
const OLD = `coredns_reload_version_info{hash="md5",value="${createHash('md5').update(COREFILE).digest('hex')}"} 1\n`;
const CHANGED = COREFILE.replace('c2', 'c3');
const refused = (times: number): string => `coredns_reload_failed_total ${times}\n`;
const started = (seconds: number): string => `process_start_time_seconds ${seconds.toExponential()}\n`;

it.each([
  { name: 'its hash is that of the Corefile', metrics: LOADED, want: true },
  { name: 'its hash is that of the file, as in old releases', metrics: OLD, want: true },
  { name: 'it refused another', metrics: LOADED + refused(1), corefile: CHANGED, want: false },
  { name: 'it refused one before this', metrics: LOADED + refused(1), want: true },
  { name: 'its hash may be made in another way', metrics: LOADED + refused(0), corefile: CHANGED, want: undefined },
  { name: 'other files are a part of it', metrics: LOADED, corefile: `${COREFILE}import other\n`, want: undefined },
  { name: 'variables are a part of it', metrics: LOADED, corefile: `${COREFILE}{$ZONE} {\n}\n`, want: undefined },
  { name: 'a server block has no braces', metrics: LOADED, corefile: '.\nwhoami\n', want: undefined },
  { name: 'it started after the last change', metrics: started(1_000), changedMs: 1_000_000, want: true },
  { name: 'it started before the last change', metrics: started(1_000), changedMs: 1_001_000, want: false },
  { name: 'the last change is unknown', metrics: started(1_000), changedMs: -Infinity, want: undefined },
  { name: 'it says neither', metrics: '', changedMs: 0, want: undefined },
])('says whether CoreDNS uses a Corefile: $name', ({ metrics, corefile: text = COREFILE, changedMs = 0, want }) => {
  expect(isCurrent(metrics, { text, changedMs })).toBe(want);
});
