"""Popular questions of many kinds, with what is right; none is an example’s."""

_TABLE = """\
Who wrote Hamlet?|William Shakespeare|Shakespeare
What is the capital of France?|Paris
What is the capital of Japan?|Tokyo
What is the capital of Australia?|Canberra
What is the capital of Italy?|Rome
Which river flows through London?|Thames
Which river flows through Paris?|Seine
What is the longest river in the world?|Nile|Amazon
What is the highest mountain in the world?|Mount Everest|Everest
What is the largest ocean?|Pacific
Which is the largest country in the world?|Russia
In which country is Machu Picchu?|Peru
In which city is the Eiffel Tower?|Paris
On which continent is Egypt?|Africa
Who painted The Starry Night?|Vincent van Gogh|van Gogh
Who painted The Night Watch?|Rembrandt
Who painted Guernica?|Pablo Picasso|Picasso
Who painted the Sistine Chapel ceiling?|Michelangelo
Who composed The Four Seasons?|Antonio Vivaldi|Vivaldi
Who composed the Moonlight Sonata?|Ludwig van Beethoven|Beethoven
Who discovered penicillin?|Alexander Fleming|Fleming
Who developed the theory of relativity?|Albert Einstein|Einstein
Who was the first person to walk on the Moon?|Neil Armstrong|Armstrong
Who was the first president of the United States?|George Washington|Washington
Who wrote Pride and Prejudice?|Jane Austen|Austen
Who wrote Don Quixote?|Miguel de Cervantes|Cervantes
Who wrote 1984?|George Orwell|Orwell
Who invented the telephone?|Alexander Graham Bell|Bell
Which planet is known as the Red Planet?|Mars
Which planet is closest to the Sun?|Mercury
How many planets are there in the Solar System?|8|eight
How many continents are there?|7|seven
How many days are there in a leap year?|366
How many sides does a hexagon have?|6|six
How many minutes are there in an hour?|60|sixty
In which year did the Second World War end?|1945
In which year did the Titanic sink?|1912
In which year did Columbus reach America?|1492
What is the chemical symbol of gold?|Au
What is the chemical formula of water?|H2O
What gas do plants take in from the air?|carbon dioxide|CO2
What is the hardest natural substance?|diamond
Which metal is liquid at room temperature?|mercury
What is the fastest land animal?|cheetah
What is the largest animal in the world?|blue whale
What is the tallest animal?|giraffe
What do pandas eat?|bamboo
What is a baby kangaroo called?|joey
What colour is grass?|green
What colour do you get when you mix blue and yellow?|green
What is the opposite of cold?|hot|warm
What is the currency of Japan?|yen
Which language is spoken in Brazil?|Portuguese
Name a yellow fruit.|banana|lemon|pineapple|mango
Name a city in the UK.|London|Manchester|Birmingham|Edinburgh|Glasgow|Liverpool|Bristol
Name a colour of the rainbow.|red|orange|yellow|green|blue|indigo|violet
Name a planet.|Mercury|Venus|Earth|Mars|Jupiter|Saturn|Uranus|Neptune
Name an animal that lives in the sea.|whale|dolphin|shark|fish|octopus|seal|turtle|jellyfish
Name a musical instrument.|piano|guitar|violin|flute|drum|trumpet|saxophone
Name a famous painter.|Leonardo da Vinci|van Gogh|Picasso|Monet|Michelangelo|Rembrandt
"""

POPULAR: dict[str, tuple[str, ...]] = {
    question: tuple(answers)
    for question, *answers in (line.split("|") for line in _TABLE.splitlines())
}
