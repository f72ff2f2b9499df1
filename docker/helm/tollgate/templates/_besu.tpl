{{/*
A Besu's pod. Takes (dict "root" $ "component" "validator" "values" .Values.validators "manifest" … "memoryMb" … "config" "besu.toml" "keys" (list (dict "key" … "path" …))).
*/}}
{{- define "tollgate.besuPod" -}}
{{- $first := first .manifest.validators -}}
{{- include "tollgate.podRights" . }}
# It closes its database on SIGTERM.
terminationGracePeriodSeconds: 60
{{- with .values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
affinity:
  podAntiAffinity:
{{- if and (eq .component "validator") .values.onePerNode }}
    requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector: { matchLabels: {{ include "tollgate.match" . }} }
{{- end }}
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: topology.kubernetes.io/zone
          labelSelector: { matchLabels: {{ include "tollgate.match" . }} }
containers:
  - name: besu
    image: {{ .root.Values.validators.image }}
    imagePullPolicy: {{ .root.Values.image.pullPolicy }}
    # What differs between nodes, and where addresses are not known beforehand. The rest is in config.toml.
    args:
      - --config-file=/etc/besu/config.toml
      - --identity=$(POD_NAME)
      # Pods come back with other addresses: static nodes are names of Services.
      - --Xdns-enabled=true
      - --Xdns-update-enabled=true
      - --p2p-host=$(POD_IP)
      - --p2p-interface=0.0.0.0
      - --metrics-host=0.0.0.0
      - --host-allowlist=localhost,127.0.0.1,$(POD_NAME),{{ include "tollgate.fullname" .root }}-{{ .component }},$(POD_IP)
      # It lists addresses of containers. Here the NetworkPolicy says who may be a peer.
      - --permissions-nodes-config-file-enabled=false
    env:
      - name: POD_NAME
        valueFrom: { fieldRef: { fieldPath: metadata.name } }
      - name: POD_IP
        valueFrom: { fieldRef: { fieldPath: status.podIP } }
      - { name: BESU_OPTS, value: "-Xmx{{ int .memoryMb }}m {{ .root.Values.validators.javaOptions }}" }
      - { name: BESU_RPC_HTTP_HOST, value: 0.0.0.0 }
      - { name: BESU_RPC_WS_HOST, value: 0.0.0.0 }
      - { name: RPC_PORT, value: {{ int $first.httpPort | quote }} }
    ports:
      - { name: peers, containerPort: {{ int $first.peerPort }} }
      - { name: rpc, containerPort: {{ int $first.httpPort }} }
      - { name: ws, containerPort: {{ add $first.httpPort 1 }} }
      - { name: metrics, containerPort: {{ int $first.metricsPort }} }
    # A database that is repaired or migrated may take minutes before the port is there.
    startupProbe:
      tcpSocket: { port: rpc }
      periodSeconds: 5
      failureThreshold: 180
    # Whether blocks come is no reason to end it: in a stall that would end all of them, again and again.
    livenessProbe:
      tcpSocket: { port: rpc }
      periodSeconds: 10
      timeoutSeconds: 4
      failureThreshold: 12
    readinessProbe:
      exec: { command: [bash, /opt/probes/height-moves.sh] }
      periodSeconds: 5
      timeoutSeconds: 4
      failureThreshold: 3
    resources: {{- toYaml .values.resources | nindent 6 }}
    {{- include "tollgate.containerRights" . | nindent 4 }}
    volumeMounts:
      - { name: data, mountPath: /var/lib/besu }
      # Besu unpacks its native libraries there and runs them.
      - { name: tmp, mountPath: /tmp }
      - { name: network, mountPath: /etc/besu/config.toml, subPath: {{ .config }}, readOnly: true }
      - { name: network, mountPath: /etc/besu/genesis.json, subPath: genesis.json, readOnly: true }
      - { name: network, mountPath: /etc/besu/static-nodes.json, subPath: static-nodes.json, readOnly: true }
      - { name: network, mountPath: /etc/besu/operator.pub.pem, subPath: operator.pub.pem, readOnly: true }
      - { name: network, mountPath: /opt/probes/height-moves.sh, subPath: height-moves.sh, readOnly: true }
      # Its own key and no other's.
      - { name: keys, mountPath: /etc/besu/key, subPathExpr: $(POD_NAME), readOnly: true }
volumes:
  - name: tmp
    emptyDir: { sizeLimit: 256Mi }
  - name: network
    configMap: { name: {{ include "tollgate.fullname" .root }}-network }
  - name: keys
    secret:
      secretName: {{ .root.Values.validators.keysSecret }}
      defaultMode: 256 # 0400, which YAML 1.2 reads as four hundred
      items:
{{- range .keys }}
        - { key: {{ .key }}, path: {{ .path }} }
{{- end }}
{{- end -}}

{{- define "tollgate.besuVolume" -}}
volumeClaimTemplates:
  - metadata:
      name: data
      labels: {{- include "tollgate.selector" . | nindent 8 }}
    spec:
      accessModes: [ReadWriteOnce]
      {{- with .values.storage.className }}
      storageClassName: {{ . }}
      {{- end }}
      resources: { requests: { storage: {{ .values.storage.size }} } }
{{- end -}}

{{- define "tollgate.besuPorts" -}}
- { name: peers, port: {{ int .peerPort }}, targetPort: peers }
- { name: rpc, port: {{ int .httpPort }}, targetPort: rpc }
- { name: ws, port: {{ add .httpPort 1 }}, targetPort: ws }
- { name: metrics, port: {{ int .metricsPort }}, targetPort: metrics }
{{- end -}}
