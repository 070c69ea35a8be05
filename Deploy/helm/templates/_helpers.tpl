{{/* The name of every object. */}}
{{- define "rouse.name" -}}
{{- if contains "rouse" .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-rouse" .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The labels by which the gateway's pod is found; they can never change for one release. */}}
{{- define "rouse.selector" -}}
app.kubernetes.io/name: rouse
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* The labels of every object. */}}
{{- define "rouse.labels" -}}
{{ include "rouse.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{/* The gateway's configuration. What the manifests rely on cannot be set in `config`. */}}
{{- define "rouse.configuration" -}}
{{- range list "listen" "insecure" "store" "store-durability" "api-keys" "apps" -}}
{{- if hasKey $.Values.config . -}}
{{- fail (printf "config.%s is set by the chart; see values.yaml" .) -}}
{{- end -}}
{{- end -}}
{{- if not .Values.apps -}}
{{- fail "apps is empty: name at least one app, as values.yaml shows" -}}
{{- end -}}
# Callers come over the cluster's network, so that network, or a service mesh, must encrypt.
listen: 0.0.0.0:8080
insecure: true
store: /var/lib/rouse/wakes.sqlite
store-durability: {{ .Values.store.durability }}
{{- with .Values.config }}
{{ toYaml . }}
{{- end }}
{{- with .Values.apiKeys }}
api-keys:
  {{- toYaml . | nindent 2 }}
{{- end }}
apps:
  {{- toYaml .Values.apps | nindent 2 }}
{{- end -}}
