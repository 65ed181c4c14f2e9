{{- /*
What the charts of the apps share; each has a link to this file. A chart has no manifests of its own: `manifests` and `dns` are
links to folders of deploy/, which kustomize uses, too. The values change the parsed objects.
*/ -}}

{{- /* The remotes of the config of an app, as JSON: those for all apps, and those of its own, by name. Those that name no kubeconfig get the files of their Secret. */ -}}
{{- define "kube-semaphore.remotes" -}}
{{- $remotes := dict }}
{{- range concat (dig "remotes" list (.Values.global | default dict)) .Values.remotes }}
{{- $_ := set $remotes .name (mergeOverwrite (get $remotes .name | default dict) (deepCopy .)) }}
{{- end }}
{{- $list := list }}
{{- range $name, $remote := $remotes }}
{{- if not $remote.kubeConfigPath }}
{{- $folder := printf "/etc/kube-semaphore/remotes/%s" $name }}
{{- $credentials := dict "remoteCAURL" (printf "file://%s/ca.crt" $folder) "remoteSATokenPath" (printf "%s/token" $folder) }}
{{- $remote = merge $remote $credentials }}
{{- end }}
{{- $list = append $list $remote }}
{{- end }}
{{- toJson $list }}
{{- end }}

{{- /* `registry.example/semaphore-policy:0.1.0` */ -}}
{{- define "kube-semaphore.image" -}}
{{- with dig "imageRegistry" "" (.Values.global | default dict) }}{{ . }}/{{ end }}
{{- .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /*
The objects of some folders of deploy/, in the order of their kustomizations.

root: the chart's root
app: semaphore-policy, also the name of its workload
folders: such as manifests/base
without: patterns of KIND/NAME of objects that are not wanted
remotes: as above, parsed
configMap: the name of that with the config
config: what else it has
remotesKey: the key of the remotes in it
env: variables of the app that the values choose
*/ -}}
{{- define "kube-semaphore.objects" -}}
{{- $root := .root }}
{{- $release := dict "app.kubernetes.io/instance" $root.Release.Name "app.kubernetes.io/version" $root.Chart.AppVersion }}
{{- $helm := dict "app.kubernetes.io/managed-by" $root.Release.Service "helm.sh/chart" (printf "%s-%s" $root.Chart.Name $root.Chart.Version) }}
{{- $without := .without }}
{{- if not $root.Values.admissionPolicies }}{{ $without = append $without "^ValidatingAdmissionPolicy" }}{{ end }}
{{- if not $root.Values.remoteAccount.token }}{{ $without = append $without "^Secret/" }}{{ end }}
{{- $operator := dig "monitoring" "prometheusOperator" dict ($root.Values.global | default dict) }}
{{- $folders := .folders }}
{{- if and $root.Values.app.enabled $operator.enabled }}{{ $folders = append $folders "manifests/components/prometheus-operator" }}{{ end }}
{{- $config := "" }}
{{- if or .remotes .config.remotesFrom }}
{{- $entries := list }}
{{- range .remotes }}{{ $entries = append $entries (omit . "secretName") }}{{ end }}
{{- $config = printf "%s\n" (mergeOverwrite (deepCopy .config) (dict .remotesKey $entries) | toPrettyJson) }}
{{- end }}
{{- range $folder := $folders }}
{{- $kustomization := $root.Files.Get (printf "%s/kustomization.yaml" $folder) | fromYaml }}
{{- $labels := (first ($kustomization.labels | default (list (dict "pairs" dict)))).pairs }}
{{- range $file := $kustomization.resources }}
{{- range $text := $root.Files.Get (printf "%s/%s" $folder $file) | splitList "\n---\n" }}
{{- $object := fromYaml $text }}
{{- $name := printf "%s/%s" $object.kind $object.metadata.name }}
{{- $isWanted := true }}
{{- range $without }}{{ if regexMatch . $name }}{{ $isWanted = false }}{{ end }}{{ end }}
{{- if $isWanted }}
{{- $metadata := $object.metadata }}
{{- $_ := set $metadata "labels" (mergeOverwrite (deepCopy $labels) ($metadata.labels | default dict) $release $helm) }}
{{- if has $object.kind (list "Deployment" "DaemonSet") }}
{{- $pod := $object.spec.template.metadata }}
{{- $_ := set $pod "labels" (mergeOverwrite (deepCopy $labels) $pod.labels $release) }}
{{- if eq $metadata.name $.app }}
{{- include "kube-semaphore.workload" (merge (dict "workload" $object "text" $config) $) }}
{{- if $config }}
---
{{ dict "apiVersion" "v1" "kind" "ConfigMap" "metadata" (dict "name" $.configMap "namespace" $metadata.namespace "labels" $metadata.labels) "data" (dict "config.json" $config) | toYaml }}
{{- end }}
{{- end }}
{{- else if has $object.kind (list "PodMonitor" "PrometheusRule") }}
{{- $_ := set $metadata "labels" (merge ($operator.labels | default dict) $metadata.labels) }}
{{- else if eq $object.kind "NetworkPolicy" }}
{{- $_ := set (first $object.spec.ingress) "from" $root.Values.metrics.networkPolicy.from }}
{{- end }}
{{- include (printf "%s.change" $.app) (dict "root" $root "object" $object "remotes" $.remotes) }}
---
{{ toYaml $object }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* A dashboard in a ConfigMap, for Grafana's sidecar. root; name: that of the dashboard. */ -}}
{{- define "kube-semaphore.dashboard" -}}
{{- $values := dig "monitoring" "dashboards" dict (.root.Values.global | default dict) }}
{{- if $values.enabled }}
{{- $labels := $values.labels | default (dict "grafana_dashboard" "1") }}
---
{{ dict "apiVersion" "v1" "kind" "ConfigMap" "metadata" (dict "name" (printf "%s-dashboard" .name) "namespace" ($values.namespace | default "monitoring") "labels" $labels) "data" (dict (printf "%s.json" .name) (.root.Files.Get "dashboard.json")) | toYaml }}
{{- end }}
{{- end }}

{{- /* Changes a workload as the values say: image, replicas, resources, variables, flags, volumes, and one for each remote. */ -}}
{{- define "kube-semaphore.workload" -}}
{{- $values := .root.Values }}
{{- $spec := .workload.spec }}
{{- $pod := $spec.template.spec }}
{{- $container := first $pod.containers }}
{{- with $values.replicas }}{{ $_ := set $spec "replicas" . }}{{ end }}
{{- $_ := set $container "image" (include "kube-semaphore.image" .root) }}
{{- with $values.image.pullPolicy }}{{ $_ := set $container "imagePullPolicy" . }}{{ end }}
{{- with $values.imagePullSecrets }}{{ $_ := set $pod "imagePullSecrets" . }}{{ end }}
{{- $_ := set $container "resources" $values.resources }}
{{- with $values.args }}{{ $_ := set $container "args" (concat ($container.args | default list) .) }}{{ end }}
{{- $added := mergeOverwrite .env $values.env }}
{{- $env := list }}
{{- range $container.env }}{{ if not (hasKey $added .name) }}{{ $env = append $env . }}{{ end }}{{ end }}
{{- range $name, $value := $added }}{{ $env = append $env (dict "name" $name "value" (toString $value)) }}{{ end }}
{{- $_ := set $container "env" $env }}
{{- if .text }}
{{- /* Some fields take effect only at the start: a change rolls out new Pods. */ -}}
{{- $_ := set $spec.template.metadata.annotations "checksum/config" (sha256sum .text) }}
{{- end }}
{{- with $values.extraVolumes }}{{ $_ := set $pod "volumes" (concat $pod.volumes .) }}{{ end }}
{{- with $values.extraVolumeMounts }}{{ $_ := set $container "volumeMounts" (concat $container.volumeMounts .) }}{{ end }}
{{- range .remotes }}
{{- $volume := printf "remote-%s" .name }}
{{- $mount := dict "name" $volume "mountPath" (printf "/etc/kube-semaphore/remotes/%s" .name) "readOnly" true }}
{{- $secret := dict "secretName" (.secretName | default (printf "%s-%s" $.app .name)) }}
{{- $_ := set $container "volumeMounts" (append $container.volumeMounts $mount) }}
{{- $_ := set $pod "volumes" (append $pod.volumes (dict "name" $volume "secret" $secret)) }}
{{- end }}
{{- end }}

{{- /* What is left to do. app, namespace; remotes, parsed. */ -}}
{{- define "kube-semaphore.notes" -}}
{{- if not .root.Values.app.enabled }}
{{ .app }} doesn't run here. Other clusters can read this one.
{{- else if .remotes }}
{{ .app }} reads {{ range $i, $remote := .remotes }}{{ if $i }}, {{ end }}{{ $remote.name }}{{ end }}. Its Pods start when {{ .namespace }} has these Secrets, with the keys token and ca.crt:
{{- range .remotes }}
  {{ .secretName | default (printf "%s-%s" $.app .name) }}
{{- end }}
{{- else if .root.Values.config.remotesFrom }}
{{ .app }} reads the clusters that have a ClusterProfile.
{{- else }}
{{ .app }} reads no cluster yet: set `remotes`. Until then, its Pods wait for a ConfigMap.
{{- end }}
{{- end }}

{{- define "kube-semaphore.next" }}
deploy/README.md has the commands that copy the tokens. Then look whether all is well, with the contexts of both clusters:
  npx semaphore check --context c1 --context c2 --wait 5m
{{- end }}
