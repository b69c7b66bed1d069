/// Makes an image's corners transparent.
enum Corners {
    static func rounded(_ bitmap: Bitmap, radius: Double) -> Bitmap {
        let radius = min(radius, Double(min(bitmap.width, bitmap.height)) / 2)
        guard radius > 0 else { return bitmap }
        var pixels = bitmap.pixels
        let reach = Int(radius.rounded(.up))
        for y in 0..<bitmap.height where y < reach || y >= bitmap.height - reach {
            for x in 0..<bitmap.width where x < reach || x >= bitmap.width - reach {
                let place = (y * bitmap.width + x) * 4 + 3
                let share = coverage(distance(x, bitmap.width, radius), distance(y, bitmap.height, radius), radius)
                pixels[place] = UInt8((Double(pixels[place]) * share).rounded())
            }
        }
        return Bitmap(width: bitmap.width, height: bitmap.height, pixels: pixels, isOpaque: false)
    }

    /// Returns how far a pixel lies outside the centers of the two corner circles at the ends of one side, measured
    /// along this side. Returns 0 if the pixel lies between the centers.
    private static func distance(_ position: Int, _ count: Int, _ radius: Double) -> Double {
        let middle = Double(position) + 0.5
        return max(0, radius - middle, middle - (Double(count) - radius))
    }

    /// Returns which part of a pixel lies inside the rounded corner, from 0 to 1. At the corner's edge, this value
    /// falls from 1 to 0 within one pixel.
    private static func coverage(_ x: Double, _ y: Double, _ radius: Double) -> Double {
        min(1, max(0, radius - (x * x + y * y).squareRoot() + 0.5))
    }
}

/// Blurs an image.
enum Blur {
    static func blurred(_ bitmap: Bitmap, radius: Int) -> Bitmap {
        guard radius > 0 else { return bitmap }
        // Multiply each colour by its opacity. Transparent pixels then do not change the colours of their neighbours.
        var values = weighted(bitmap)
        let (width, height) = (bitmap.width, bitmap.height)
        for _ in 0..<3 {
            for row in 0..<height { average(&values, from: row * width * 4, step: 4, count: width, radius) }
            for column in 0..<width { average(&values, from: column * 4, step: width * 4, count: height, radius) }
        }
        var pixels = [UInt8](repeating: 0, count: values.count)
        for place in stride(from: 0, to: values.count, by: 4) {
            let alpha = values[place + 3]
            guard alpha > 0.001 else { continue }
            for part in 0..<3 { pixels[place + part] = Resampling.byte(values[place + part] / alpha) }
            pixels[place + 3] = Resampling.byte(alpha)
        }
        return Bitmap(width: width, height: height, pixels: pixels, isOpaque: bitmap.isOpaque)
    }

    private static func weighted(_ bitmap: Bitmap) -> [Float] {
        var values = bitmap.pixels.map(Float.init)
        for place in stride(from: 0, to: values.count, by: 4) {
            for part in 0..<3 { values[place + part] *= values[place + 3] }
        }
        return values
    }

    /// Blurs a line of values. Each value becomes the mean of the values around it. Beyond the ends of the line, the
    /// first and the last value are repeated.
    private static func average(_ values: inout [Float], from start: Int, step: Int, count: Int, _ radius: Int) {
        let scale = 1 / Double(2 * radius + 1)
        for part in 0..<4 {
            let line = (0..<count).map { values[start + part + $0 * step] }
            func value(_ index: Int) -> Double { Double(line[min(max(index, 0), count - 1)]) }
            // Compute the running sum in Double, so that its rounding errors stay far below one 8-bit step.
            var sum = (-radius...radius).reduce(0.0) { $0 + value($1) }
            for index in 0..<count {
                values[start + part + index * step] = Float(sum * scale)
                sum += value(index + radius + 1) - value(index - radius)
            }
        }
    }
}
