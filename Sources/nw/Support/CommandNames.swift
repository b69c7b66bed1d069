/// Suggests a command for a mistyped name.
enum CommandNames {
    /// Returns the command name that fits `word` best.
    ///
    /// If `word` has at least three letters, this is the first name that begins with `word`. Otherwise it is the most
    /// similar name. Returns `nil` if the most similar name differs in more than one letter and in more than a third of
    /// its letters.
    static func closest(to word: String, among names: [String]) -> String? {
        let word = word.lowercased()
        if word.count >= 3, let longer = names.first(where: { $0.hasPrefix(word) }) { return longer }
        let best = names.map { (name: $0, distance: distance(Array(word), Array($0))) }.min {
            $0.distance < $1.distance
        }
        guard let best, best.distance <= max(1, best.name.count / 3) else { return nil }
        return best.name
    }

    /// Returns the edit distance: the number of letters to insert, remove, replace or swap with the next letter.
    private static func distance(_ from: [Character], _ to: [Character]) -> Int {
        var rows = [[Int](0...to.count)]
        for (i, letter) in from.enumerated() {
            var row = [i + 1]
            for (j, other) in to.enumerated() {
                var cost = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (letter == other ? 0 : 1))
                if i > 0, j > 0, letter == to[j - 1], from[i - 1] == other { cost = min(cost, rows[i - 1][j - 1] + 1) }
                row.append(cost)
            }
            rows.append(row)
        }
        return rows[from.count][to.count]
    }
}
