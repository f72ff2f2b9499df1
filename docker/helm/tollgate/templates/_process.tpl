{{/*
A Deployment of one of our processes, its Services and its budget.
Takes (dict "root" $ "component" "gateway" "values" .Values.gateway "ports" (dict "http" 8540 "ops" 9540) "args" (list …) "env" TEXT "secrets" (list (dict "name" … "secret" … "items" (list (dict "key" … "path" …)))) "mounts" TEXT "volumes" TEXT "graceSeconds" 30 "replicas" 1 or absent).
*/}}
{{- define "tollgate.process" -}}
{{- $fullname := include "tollgate.fullname" .root -}}
apiVersion: apps/v1
kind: Deployment
metadata: {{- include "tollgate.metadata" . | nindent 2 }}
spec:
{{- if hasKey . "replicas" }}
  replicas: {{ .replicas }}
{{- end }}
  # No pod ends before another one serves in its place.
  strategy: { type: RollingUpdate, rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } }
  selector: { matchLabels: {{ include "tollgate.match" . }} }
  template:
    metadata:
      labels: {{- include "tollgate.labels" . | nindent 8 }}
      annotations: {{- include "tollgate.configChecksum" .root | nindent 8 }}
    spec:
      {{- include "tollgate.podRights" . | nindent 6 }}
      terminationGracePeriodSeconds: {{ .graceSeconds }}
      {{- include "tollgate.placement" . | nindent 6 }}
      containers:
        - name: {{ .component }}
          image: {{ include "tollgate.image" .root }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          args: {{- toYaml .args | nindent 12 }}
          env:
            {{- include "tollgate.oursEnvironment" .root | nindent 12 }}
            {{- .env | nindent 12 }}
          ports:
          {{- range $name, $port := .ports }}
            - { name: {{ $name }}, containerPort: {{ $port }} }
          {{- end }}
          {{- include "tollgate.opsProbes" . | nindent 10 }}
          {{- if .preStopSeconds }}
          # Load balancers hear that it ends while it still serves.
          lifecycle: { preStop: { sleep: { seconds: {{ .preStopSeconds }} } } }
          {{- end }}
          resources: {{- toYaml (default .values.resources .resources) | nindent 12 }}
          {{- include "tollgate.containerRights" . | nindent 10 }}
          volumeMounts:
            - { name: tmp, mountPath: /tmp }
            - { name: config, mountPath: /app/config, readOnly: true }
          {{- range .secrets }}
            - { name: {{ .name }}, mountPath: /run/secrets/{{ .name }}, readOnly: true }
          {{- end }}
          {{- with .mounts }}{{ . | nindent 12 }}{{ end }}
      volumes:
        - name: tmp
          emptyDir: { sizeLimit: 64Mi }
        - name: config
          configMap: { name: {{ $fullname }}-config }
      {{- range .secrets }}
        - name: {{ .name }}
          secret:
            secretName: {{ .secret }}
            defaultMode: 256 # 0400, which YAML 1.2 reads as four hundred
            items:
            {{- range .items }}
              - { key: {{ .key }}, path: {{ .path }} }
            {{- end }}
      {{- end }}
      {{- with .volumes }}{{ . | nindent 8 }}{{ end }}
---
# For Prometheus; kubelet asks pods by themselves.
apiVersion: v1
kind: Service
metadata:
  {{- include "tollgate.metadata" (dict "root" .root "component" .component "name" (printf "%s-ops" .component)) | nindent 2 }}
    tollgate/job: {{ default .component .job }}
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector: {{- include "tollgate.selector" . | nindent 4 }}
  ports:
    - { name: metrics, port: {{ .ports.ops }}, targetPort: ops }
{{- if .ports.http }}
---
apiVersion: v1
kind: Service
metadata:
  {{- include "tollgate.metadata" . | nindent 2 }}
  {{- with .values.service.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ .values.service.type }}
  {{- if eq .values.service.type "LoadBalancer" }}
  # Clients keep their addresses, which limits go by.
  externalTrafficPolicy: Local
  {{- end }}
  selector: {{- include "tollgate.selector" . | nindent 4 }}
  ports:
    - { name: http, port: {{ .ports.http }}, targetPort: http }
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{- include "tollgate.metadata" . | nindent 2 }}
spec:
  maxUnavailable: 1
  selector: { matchLabels: {{ include "tollgate.match" . }} }
{{- end }}
{{- end -}}
