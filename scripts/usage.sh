# For programs in shell: with --help, prints the comment that a program begins with, and ends.
case ${1-} in
-h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit
    ;;
esac
