import ArgumentParser
import CausewayTypes
import FoundationEssentials

/// Splits words such as `-qc3` and `-p80` into options and values, as getopt does.
///
/// The argument parser interprets `-c3` as the options `c` and `3`, unless the option is declared with a joined value. In a word such as
/// `-qc3`, it never finds the value of `c`.
struct CommandWords {
    private struct Listing: Decodable {
        struct Command: Decodable { var arguments: [Argument]? }
        struct Argument: Decodable {
            var kind: String
            var names: [Name]?
        }
        struct Name: Decodable {
            var kind: String
            var name: String
        }
        var command: Command
    }

    private var flags: Set<Character> = []
    private var options: Set<Character> = []
    /// Names with one dash and several letters, such as `-sS`. The parser does not split them into single letters.
    private var wholeNames: Set<String> = []
    private var longOptions: Set<String> = []
    /// All option names that begin with two dashes.
    private var longNames: Set<String> = ["help", "version"]

    /// Words that make the parser print information about the command and ignore all errors.
    private static let questions: Set<String> = [
        "-h", "--help", "--help-hidden", "--version", "--experimental-dump-help", "--generate-completion-script",
    ]

    /// - Parameter command: The command that defines the known options.
    init(of command: any ParsableCommand.Type) {
        let listing = try? JSONDecoder().decode(Listing.self, from: Data(command._dumpHelp().utf8))
        for argument in listing?.command.arguments ?? [] {
            for name in argument.names ?? [] {
                if name.kind == "long" { longNames.insert(name.name) }
                switch (name.kind, argument.kind) {
                case ("short", "option"): options.formUnion(name.name)
                case ("short", _): flags.formUnion(name.name)
                case ("longWithSingleDash", _): wholeNames.insert(name.name)
                case (_, "option"): longOptions.insert(name.name)
                default: break
                }
            }
        }
    }

    /// Whether any word may need to be split into several options. The program checks this first, because reading a
    /// command's options takes a millisecond.
    static func areNeeded(for words: some Sequence<String>) -> Bool {
        words.contains { $0.utf8.count > 2 && $0.hasPrefix("-") && !$0.hasPrefix("--") }
    }

    /// Splits grouped options into separate words, one option each. A word with unknown options stays unchanged.
    func split(_ words: [String]) -> [String] {
        var result: [String] = []
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" { return result + [word] + rest }
            let parts = parts(of: word)
            result += parts
            // The next word is the option's value, even if it looks like an option.
            if let last = parts.last, awaitsValue(last), let value = rest.popFirst() { result.append(value) }
        }
        return result
    }

    /// Returns the first unknown option among the words of a command line, and the known option that is most similar to
    /// it.
    ///
    /// Returns `nil` if all options are known. Also returns `nil` if the words contain a request such as `--help`.
    func unknownOption(in words: [String]) -> (option: String, closest: String?)? {
        guard Self.questions.isDisjoint(with: words) else { return nil }
        var rest = split(words)[...]
        while let word = rest.popFirst(), word != "--" {
            guard word.hasPrefix("-"), word.count > 1 else { continue }
            let name = String(word.prefix { $0 != "=" })
            if name.hasPrefix("--") {
                guard longNames.contains(String(name.dropFirst(2))) else { return unknown(long: name) }
            } else if !wholeNames.contains(String(name.dropFirst())) {
                let known = flags.union(options)
                if let letter = name.dropFirst().first(where: { !known.contains($0) }) { return ("-\(letter)", nil) }
            }
            if awaitsValue(word) { rest = rest.dropFirst() }
        }
        return nil
    }

    private func unknown(long name: String) -> (option: String, closest: String?) {
        let closest = CommandNames.closest(to: String(name.dropFirst(2)), among: longNames.sorted())
        return (PrintableText(foreign: name).text, closest.map { "--\($0)" })
    }

    private func awaitsValue(_ word: String) -> Bool {
        if word.hasPrefix("--") { return longOptions.contains(String(word.dropFirst(2))) }
        return word.count == 2 && word.hasPrefix("-") && options.contains(word.last ?? "-")
    }

    private func parts(of word: String) -> [String] {
        let name = word.dropFirst()
        guard word.hasPrefix("-"), !word.hasPrefix("--"), name.count > 1, !wholeNames.contains(String(name)) else {
            return [word]
        }
        var parts: [String] = []
        for (index, letter) in zip(name.indices, name) {
            let value = name[name.index(after: index)...]
            if options.contains(letter) {
                if value.isEmpty { return parts + ["-\(letter)"] }
                // `-c3` and `-c=3` mean the same, but the parser accepts only `-c=3`. Convert the first form to the
                // second.
                return parts + ["-\(letter)=\(value.hasPrefix("=") ? value.dropFirst() : value)"]
            }
            guard flags.contains(letter) else { return [word] }
            parts.append("-\(letter)")
        }
        return parts
    }
}
