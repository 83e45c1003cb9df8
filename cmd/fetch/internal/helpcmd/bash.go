package helpcmd

// bashFunctions defines two functions of the package bash-completion that the
// completion script uses. If the package is loaded, its functions are not
// replaced.
const bashFunctions = `# Functions of bash-completion, for systems without this package.
if ! declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
    # _get_comp_words_by_ref sets cur, prev, words and cword. Bash divides words at
    # colons and equals signs; the function joins them again.
    _get_comp_words_by_ref() {
        local line=$COMP_LINE word gap i last
        words=() cword=0
        for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
            word=${COMP_WORDS[i]}
            gap=${line%%"$word"*}
            line=${line#*"$word"}
            last=$((${#words[@]} - 1))
            if ((i > 0)) && [[ -z $gap && -n $word && ( $word == [:=]* || ${words[last]} == *[:=] ) ]]; then
                words[last]+=$word
            else
                words+=("$word")
            fi
            if ((i == COMP_CWORD)); then
                cword=$((${#words[@]} - 1))
            fi
        done
        cur=${words[cword]}
        prev=
        if ((cword > 0)); then
            prev=${words[cword - 1]}
        fi
    }
fi
if ! declare -F __ltrim_colon_completions >/dev/null 2>&1; then
    # __ltrim_colon_completions removes the part of the completions before the last
    # colon of the word, because bash completes only the part after it.
    __ltrim_colon_completions() {
        local prefix i
        if [[ $1 == *:* && $COMP_WORDBREAKS == *:* ]]; then
            prefix=${1%"${1##*:}"}
            for i in "${!COMPREPLY[@]}"; do
                COMPREPLY[i]=${COMPREPLY[i]#"$prefix"}
            done
        fi
    }
fi`
