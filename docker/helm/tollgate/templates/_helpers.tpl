{{- define "tollgate.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Labels that never change: what selectors say. Takes (dict "root" $ "component" "gateway"). */}}
{{- define "tollgate.selector" -}}
app.kubernetes.io/name: tollgate
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{- define "tollgate.labels" -}}
{{ include "tollgate.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/part-of: tollgate
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "tollgate.metadata" -}}
name: {{ include "tollgate.fullname" .root }}-{{ default .component .name }}
namespace: {{ .root.Release.Namespace }}
labels: {{- include "tollgate.labels" . | nindent 2 }}
{{- end -}}

{{- define "tollgate.image" -}}
{{- with .Values.image -}}
{{- $repository := required "image.repository: say where your image of docker/Dockerfile is, such as registry.example/tollgate" .repository -}}
{{- if .digest -}}
{{ $repository }}@{{ .digest }}
{{- else -}}
{{ $repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What every pod has: no rights in the cluster, no root. Takes (dict "root" $ "component" …). */}}
{{- define "tollgate.podRights" -}}
serviceAccountName: {{ include "tollgate.fullname" .root }}-{{ .component }}
automountServiceAccountToken: false
# Variables such as GATEWAY_PORT of a Service of that name would be taken for settings.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .root.Values.user }}
  runAsGroup: {{ .root.Values.user }}
  fsGroup: {{ .root.Values.user }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with .sysctls }}
  sysctls: {{- toYaml . | nindent 4 }}
{{- end }}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "tollgate.containerRights" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  capabilities: { drop: [ALL] }
{{- end -}}

{{/* Takes (dict "root" $ "component" … "values" …). Pods of a kind stay apart where they can. */}}
{{- define "tollgate.placement" -}}
topologySpreadConstraints:
{{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: { matchLabels: {{ include "tollgate.match" $ }} }
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* One of our processes says on its ops port whether it lives and whether it serves. */}}
{{- define "tollgate.opsProbes" -}}
startupProbe:
  httpGet: { path: /livez, port: ops }
  periodSeconds: 2
  timeoutSeconds: 4
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /livez, port: ops }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /readyz, port: ops }
  periodSeconds: 5
  timeoutSeconds: 4
  failureThreshold: 3
{{- end -}}

{{- define "tollgate.oursEnvironment" -}}
- { name: TOLLGATE_PROFILE, value: {{ .Values.profile | quote }} }
- { name: LOG_LEVEL, value: {{ .Values.logLevel | quote }} }
- { name: NODE_ENV, value: production }
{{- end -}}

{{/* A file of config/: the caller's own, or the shipped one, without development keys in production. */}}
{{- define "tollgate.configFile" -}}
{{- $own := get .root.Values.config .name -}}
{{- $text := default (.root.Files.Get (printf "files/config/%s" .name)) $own -}}
{{- if and (not $own) (eq .root.Values.profile "production") -}}
{{- $text = regexReplaceAll "(?ms)^# API keys that a gateway of the development profile.*\\z" $text "" -}}
{{- $text = regexReplaceAll "(?m)^  developmentKey:.*$" $text "" -}}
{{- end -}}
{{ $text }}
{{- end -}}

{{- define "tollgate.configData" -}}
{{- range list "api.yaml" "faucet.yaml" "fees.yaml" "gateway.yaml" "methods.yaml" "network.yaml" }}
{{ . }}: |
{{- include "tollgate.configFile" (dict "root" $ "name" .) | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Pods are replaced when a file that they read at their start changes. */}}
{{- define "tollgate.configChecksum" -}}
checksum/config: {{ include "tollgate.configData" . | sha256sum }}
{{- end -}}

{{/* network.json, as an object. */}}
{{- define "tollgate.manifest" -}}
{{- if .Values.network.manifest -}}
{{- $manifest := fromJson .Values.network.manifest -}}
{{- if hasKey $manifest "Error" -}}{{- fail (printf "network.manifest: network.json was expected, with --set-file: %s" $manifest.Error) -}}{{- end -}}
{{- toJson $manifest -}}
{{- else -}}
{}
{{- end -}}
{{- end -}}

{{/* Which validators there are, and a trace node where there is one: as gateways are told of them. */}}
{{- define "tollgate.upstreams" -}}
{{- if .Values.validators.enabled -}}
{{- $addresses := list -}}
{{- range (include "tollgate.manifest" . | fromJson).validators -}}
{{- $addresses = append $addresses (printf "%s=http://%s-%s:%d" .name (include "tollgate.fullname" $) .name (int .httpPort)) -}}
{{- end -}}
{{- join "," $addresses -}}
{{- else -}}
{{- .Values.gateway.upstreams -}}
{{- end -}}
{{- end -}}

{{- define "tollgate.traceUpstreams" -}}
{{- with (include "tollgate.manifest" . | fromJson).traceNode -}}
{{- if $.Values.validators.enabled -}}
{{ printf "%s=http://%s-%s:%d" .name (include "tollgate.fullname" $) .name (int .httpPort) }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "tollgate.genesisHash" -}}
{{- default ((include "tollgate.manifest" . | fromJson).genesisHash | default "") .Values.gateway.genesisHash -}}
{{- end -}}

{{- define "tollgate.postgresName" -}}
{{ include "tollgate.fullname" . }}-postgres
{{- end -}}

{{/* The same on one line. */}}
{{- define "tollgate.match" -}}
{{ include "tollgate.selector" . | fromYaml | toJson }}
{{- end -}}

{{/* What there is, as {"list": [...]}. */}}
{{- define "tollgate.components" -}}
{{- $names := list -}}
{{- range list "gateway" "faucet" "api" -}}
{{- if (get $.Values .).enabled -}}{{- $names = append $names . -}}{{- end -}}
{{- end -}}
{{- if .Values.validators.enabled -}}
{{- $names = append $names "validator" -}}
{{- if (include "tollgate.manifest" . | fromJson).traceNode -}}{{- $names = append $names "trace-node" -}}{{- end -}}
{{- if .Values.monitoring.enabled -}}{{- $names = append $names "network-exporter" -}}{{- end -}}
{{- end -}}
{{ dict "list" $names | toJson }}
{{- end -}}
