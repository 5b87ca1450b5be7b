# Tools that a script cannot do without.  Sourced; ends the script as skipped where one is missing.

# needs TOOL ...
needs() {
    local tool
    for tool; do
        if ! command -v "$tool" >/dev/null; then
            echo "$tool is not installed"
            exit 77
        fi
    done
}

# needs_perf VERSION: 6.1
needs_perf() {
    needs perf
    case $(perf --version) in
    "perf version $1"*) ;;
    *)
        echo "perf is $(perf --version), not $1"
        exit 77
        ;;
    esac
}
