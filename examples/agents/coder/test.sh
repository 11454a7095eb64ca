# The tests of lib/stats.sh: sh test.sh

. "$(dirname "$0")/lib/stats.sh"
failed=0
count=0

check() { # name, got, want
    count=$((count + 1))
    if [ "$2" != "$3" ]; then
        echo "not ok: $1 gave $2, want $3"
        failed=$((failed + 1))
    fi
}

check "sum 4 8 2" "$(sum 4 8 2)" 14
check "sum" "$(sum)" 0
check "max 4 8 2" "$(max 4 8 2)" 8
check "min 4 8 2" "$(min 4 8 2)" 2
check "min 7" "$(min 7)" 7

if [ "$failed" -gt 0 ]; then
    echo "$failed of $count tests failed"
    exit 1
fi
echo "all $count tests passed"
