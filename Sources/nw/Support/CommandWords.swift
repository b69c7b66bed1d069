import ArgumentParser
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
    /// Names with one dash and several letters, such as `-sS`, which are not split.
    private var wholeNames: Set<String> = []
    private var longOptions: Set<String> = []

    /// - Parameter command: The command whose options are known.
    init(of command: any ParsableCommand.Type) {
        let listing = try? JSONDecoder().decode(Listing.self, from: Data(command._dumpHelp().utf8))
        for argument in listing?.command.arguments ?? [] {
            for name in argument.names ?? [] {
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

    /// Whether any of the words may have to be split. The program checks this first, because reading the options of a command takes a
    /// millisecond.
    static func areNeeded(for words: some Sequence<String>) -> Bool {
        words.contains { $0.utf8.count > 2 && $0.hasPrefix("-") && !$0.hasPrefix("--") }
    }

    /// Splits the words so that each has one option. A word with unknown options stays unchanged.
    func split(_ words: [String]) -> [String] {
        var result: [String] = []
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" { return result + [word] + rest }
            let parts = parts(of: word)
            result += parts
            // The next word is the value, even if it looks like an option.
            if let last = parts.last, awaitsValue(last), let value = rest.popFirst() { result.append(value) }
        }
        return result
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
                // `-c3` and the parser's form `-c=3` mean the same.
                return parts + ["-\(letter)=\(value.hasPrefix("=") ? value.dropFirst() : value)"]
            }
            guard flags.contains(letter) else { return [word] }
            parts.append("-\(letter)")
        }
        return parts
    }
}
