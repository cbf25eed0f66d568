/** Entry of the script tag. To register under another name, import ask-blog-element.js instead. */
import { AskBlogElement } from "./ask-blog-element.js";

AskBlogElement.define();
