# zsh completion.zsh SCRIPT <LINES: for each line the words that zsh offers at its end, behind a line "= LINE".
#
# Only a shell with a terminal completes, so one is run on a pseudo-terminal; what it hands to compadd is printed there,
# between two lines with a NUL.
zmodload zsh/zpty || exit 77
setopt rc_quotes
setup=$PWD/setup.zsh
cat >$setup <<'END'
PROMPT=
unsetopt prompt_cr prompt_sp
zle_bracketed_paste=()
autoload -Uz compinit
compinit -u -d $PWD/zcompdump
bindkey -e
bindkey '^M' undefined-key
bindkey '^I' complete-word
# Both lists are used up by each completion.
mark() { echo -E - $'\0'; compprefuncs=(mark) comppostfuncs=(mark) }
mark
zstyle ':completion:*' insert-tab false
compadd() {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
        builtin compadd "$@"
        return $?
    fi
    typeset -a hits before
    builtin compadd -A hits "$@"
    zparseopts -E P:=before
    (( $#hits )) && print -rl -- $IPREFIX$before[2]$^hits
}
END
print -r -- "source ${(q)1}; echo all set" >>$setup
zpty shell zsh -f -i
zpty -w shell "source ${(q)setup}"
while zpty -r shell line; do
    [[ $line == *'all set'* && $line != *echo* ]] && break
done
while IFS= read -r query; do
    print -r -- "= $query"
    zpty -n -w shell "$query"$'\t'
    integer marks=0
    while (( marks < 2 )) && zpty -r shell line; do
        line=${line%$'\r\n'}
        if [[ $line == *$'\0'* ]]; then
            (( marks++ ))
        elif (( marks )); then
            print -r -- $line
        fi
    done
    zpty -n -w shell $'\C-u'
done
zpty -d shell
