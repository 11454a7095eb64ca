# Arithmetic on lists of whole numbers.

sum() {
    total=0
    for n in "$@"; do
        total=$((total + n))
    done
    echo "$total"
}

max() {
    most=$1
    for n in "$@"; do
        if [ "$n" -gt "$most" ]; then
            most=$n
        fi
    done
    echo "$most"
}

min() {
    least=$1
    for n in "$@"; do
        if [ "$n" -gt "$least" ]; then
            least=$n
        fi
    done
    echo "$least"
}
